import fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { ahp } from "../src/documented.ts";
import { tolerant, withoutNulls } from "../src/null-as-absent.ts";
import { ahpDocuments } from "./ahp-documents.ts";
import { placesOf } from "./support/near-documents.ts";

type Path = readonly string[];

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Every field in a value, at any depth. */
const fieldsOf = (value: unknown): Path[] =>
  placesOf(value).filter((path) => !/^\d*$/.test(path.at(-1) ?? ""));

/** A copy with another value in one field, or without the field. */
const changed = (value: unknown, [first, ...rest]: Path, entry?: { readonly value: unknown }): unknown => {
  if (Array.isArray(value)) {
    return value.map((each, index) => (String(index) === first ? changed(each, rest, entry) : each));
  }
  const { [first as string]: found, ...others } = value as Record<string, unknown>;
  if (rest.length > 0) return { ...others, [first as string]: changed(found, rest, entry) };
  return entry ? { ...others, [first as string]: entry.value } : others;
};

/** Payloads that advise people; no message is read with them. */
const advisory = new Set<unknown>(Object.values(ahp.conventionalPayloads));

const pairs = Object.entries(ahpDocuments).flatMap(([name, documents]) => {
  const schema = ({ ...ahp } as unknown as Record<string, z.ZodType | undefined>)[name];
  return schema && !advisory.has(schema)
    ? documents.filter(isObject).map((document) => [name, schema, document] as const)
    : [];
});

/** What belongs to the sender, such as metadata, is kept as it is: no field in it is one of the protocol's. */
const own = new Set(["metadata", "capabilities", "payload", "modified_payload", "answer"]);
const isOwn = (path: Path) => path.slice(0, -1).some((name) => own.has(name)) || path.includes("constraints");

describe("null in an optional field", () => {
  it.each(pairs)("of %s is absent, and what is parsed does not have it", (_name, schema, document) => {
    for (const path of fieldsOf(document)) {
      const absent = schema.safeParse(changed(document, path));
      if (!absent.success || isOwn(path)) continue;
      const withNull = changed(document, path, { value: null });
      expect(schema.safeParse(withNull)).toStrictEqual(absent);
      expect(withoutNulls(schema, withNull)).toStrictEqual(changed(document, path));
    }
  });

  it.each(pairs)(
    "of %s is left out of what is sent, and all else of it is sent",
    (_name, schema, document) => {
      expect(withoutNulls(schema, document)).toBe(document);
      const more = { ...document, x_own: { a: null }, x_null: null };
      if (schema.safeParse(more).success) expect(withoutNulls(schema, more)).toBe(more);
    },
  );

  it("is read of what the reference sends", () => {
    const [event] = ahpDocuments.AhpEventSchema as [Record<string, unknown>];
    expect(ahp.AhpEventSchema.parse({ ...event, context: null, metadata: null })).toStrictEqual(event);
    const constraints = { max_results: null, max_context_length: null, include_sources: true };
    const [perception] = ahpDocuments.ContextPerceptionPayloadSchema as [Record<string, unknown>];
    expect(
      ahp.ContextPerceptionPayloadSchema.parse({ ...perception, constraints }).constraints,
    ).toStrictEqual({ include_sources: true });
    expect(
      ahp.DecisionSchema.parse({ decision: "allow", modified_payload: null, metadata: null }),
    ).toStrictEqual({ decision: "allow" });
    const info = { name: "h", version: "1", capabilities: [] };
    const answer = { protocol_version: "2.4", harness_info: info };
    for (const config of [null, { timeout_ms: null, batch_size: null, max_depth: null }]) {
      const parsed = ahp.HandshakeResultSchema.parse({ ...answer, session_token: null, config });
      expect(parsed).toStrictEqual(config === null ? answer : { ...answer, config: {} });
    }
  });

  it("stays null where the field is required and takes it", () => {
    for (const [schema, value] of [
      [ahp.DecisionSchema, { decision: "modify", modified_payload: null }],
      [ahp.QueryResultSchema, { answer: null }],
      [z.array(ahp.DecisionSchema), [{ decision: "modify", modified_payload: null }]],
    ] as const) {
      expect(schema.parse(value)).toStrictEqual(value);
      expect(withoutNulls(schema, value)).toBe(value);
    }
  });

  it("of any object, with defaults and prefaults, is as if the field had not come", () => {
    const schema = tolerant(() => ({
      required: z.unknown(),
      optional: z.string().optional(),
      nullable: z.string().nullable().optional(),
      byDefault: z.number().default(3),
      nested: tolerant(() => ({ inner: z.string().optional() })).prefault({}),
      list: z.array(tolerant(() => ({ a: z.number().optional() }))).optional(),
    }));
    const field = fc.constantFrom(null, undefined, "text", 1, {}, { inner: null }, [{ a: null }, { a: 1 }]);
    const names = ["optional", "nullable", "byDefault", "nested", "list", "required", "other"];
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...names), field), (value) => {
        const kept = Object.fromEntries(
          Object.entries(value).filter(
            ([name, entry]) => entry !== null || name === "required" || name === "other",
          ),
        );
        const parsed = schema.safeParse(value);
        expect(parsed.data).toStrictEqual(schema.safeParse(kept).data);
        if (parsed.success && "required" in value) {
          expect(schema.parse(withoutNulls(schema, value))).toStrictEqual(parsed.data);
        }
      }),
    );
  });
});
