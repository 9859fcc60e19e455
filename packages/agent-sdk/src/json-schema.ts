import type { JsonObject } from "@harnesskit/protocol/envelope";
import { InvalidArgumentError } from "@harnesskit/wire";
import type { Ajv2020 } from "ajv/dist/2020.js";
import type { Validated } from "./schema.ts";

/** Stops at the first problem, so that a hostile input cannot make it collect millions. `format` is an annotation. */
let compiler: Ajv2020 | undefined;

const nameIn = (params: Record<string, unknown>): string | undefined => {
  const { type, missingProperty } = params;
  const name = missingProperty ?? type;
  return typeof name === "string" ? name : undefined;
};

/** Compiles a JSON Schema (draft 2020-12). Rejects with `invalid_argument` when it is not valid. */
export const compileJsonSchema = async (
  schema: JsonObject,
  name: string,
): Promise<(value: unknown) => Validated> => {
  // Only here: an agent without such tools starts sooner.
  const { Ajv2020 } = await import("ajv/dist/2020.js");
  compiler ??= new Ajv2020({
    strict: false,
    validateFormats: false,
    addUsedSchema: false,
    logger: false,
  });
  let check: ReturnType<Ajv2020["compile"]>;
  try {
    check = compiler.compile(schema);
    // It would be kept for as long as the process lives, and tools may come and go.
    compiler.removeSchema(schema);
  } catch (cause) {
    throw new InvalidArgumentError(`${name} is not a valid JSON Schema (draft 2020-12)`, { cause });
  }
  return (value) => {
    if (check(value)) return { ok: true, value };
    const problems = (check.errors ?? []).slice(0, 1).map(({ instancePath, keyword, params }) => {
      const expected = nameIn(params);
      return {
        path: instancePath.slice(0, 256),
        problem: keyword,
        expected: expected === undefined ? undefined : expected.slice(0, 128),
      };
    });
    return { ok: false, problems };
  };
};
