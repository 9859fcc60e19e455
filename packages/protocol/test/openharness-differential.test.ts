import { readFileSync } from "node:fs";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type * as z from "zod";
import { isNightly } from "../../../test-kit/nightly.ts";
import { withoutNulls } from "../src/null-as-absent.ts";
import { ShellRequestSchema, ShellResponseSchema } from "../src/openharness/index.ts";
import { publishedDocuments } from "../src/published-documents.ts";
import { requestDocuments, responseDocuments } from "./openharness-documents.ts";
import { nearDocument } from "./support/near-documents.ts";

const normative = JSON.parse(
  readFileSync(new URL("./fixtures/openharness-v1.draft.json", import.meta.url), "utf8"),
) as { $id: string };
const ours = publishedDocuments();

const ajv = new Ajv2020({ strict: false, strictNumbers: true });
ajv.addSchema(normative);
for (const file of Object.values(ours)) ajv.addSchema(file);

const compiled = (ref: string): ValidateFunction => {
  const validate = ajv.getSchema(ref);
  if (!validate) throw new ReferenceError(ref);
  return validate;
};

interface Side {
  readonly name: string;
  readonly zod: z.ZodType;
  readonly rule: ValidateFunction;
  readonly published: ValidateFunction;
}

const own = "https://harnesskit.dev/schema/openharness.json#/$defs";
const sides: readonly Side[] = [
  {
    name: "request",
    zod: ShellRequestSchema,
    rule: compiled(`${normative.$id}#/$defs/requestMessage`),
    published: compiled(`${own}/ShellRequest`),
  },
  {
    name: "response",
    zod: ShellResponseSchema,
    rule: compiled(`${normative.$id}#/$defs/responseMessage`),
    published: compiled(`${own}/ShellResponse`),
  },
];

const seed = 20_261_122;

/** How many documents were compared, and how many of these comparisons ended in yes. */
const compareAll = (documents: fc.Arbitrary<unknown>, numRuns: number) => {
  const counts = { compared: 0, accepted: 0, refused: 0 };
  const run = (document: unknown) => {
    for (const { name, zod, rule, published } of sides) {
      // The normative schema refuses null in an optional field, which we read as absent.
      const expected = rule(withoutNulls(zod, document));
      const found = [zod.safeParse(document).success, published(document)];
      // Two comparisons for thousands of documents; the words are only for the one that differs.
      if (found[0] !== expected || found[1] !== expected) {
        expect({ name, document, found }).toEqual({ name, document, found: [expected, expected] });
      }
      counts[expected ? "accepted" : "refused"]++;
    }
    counts.compared++;
  };
  fc.assert(fc.property(documents, run), { seed, numRuns });
  return counts;
};

describe("OpenHarness messages against the normative schema", () => {
  it("the documents of the specification are accepted, each by its own side alone", () => {
    const [request, response] = sides as [Side, Side];
    for (const document of requestDocuments) {
      expect([request.rule(document), request.zod.safeParse(document).success]).toEqual([true, true]);
      expect([response.rule(document), response.zod.safeParse(document).success]).toEqual([false, false]);
    }
    for (const document of responseDocuments) {
      expect([response.rule(document), response.zod.safeParse(document).success]).toEqual([true, true]);
      expect([request.rule(document), request.zod.safeParse(document).success]).toEqual([false, false]);
    }
  });

  it("mutated documents are judged alike, by our zod schemas and by our JSON Schema", () => {
    const many = isNightly ? 3000 : 1000;
    const counts = compareAll(nearDocument([...requestDocuments, ...responseDocuments]), many);
    expect(counts.compared).toBe(many);
    expect(counts.accepted).toBeGreaterThan(many / 4);
    expect(counts.refused).toBeGreaterThan(many);
  });

  it("a number that no double holds is judged alike", () => {
    for (const text of ["1e400", "-1e400", "1e-400", "9007199254740993"]) {
      for (const document of [
        `{"protocol_version":"1.0.0","request":{"context":{"attachments":[{"size_bytes":${text}}]}}}`,
        `{"protocol_version":"1.0.0","request":{"extensions":{"a":${text}}}}`,
        `{"protocol_version":"1.0.0","response":{"status":"success","engine_latency_ms":${text}}}`,
      ].map((json) => JSON.parse(json) as unknown)) {
        for (const { name, zod, rule } of sides) {
          expect([text, name, zod.safeParse(document).success]).toEqual([text, name, rule(document)]);
        }
      }
    }
  });
});
