import type { JsonObject } from "@harnesskit/protocol/envelope";
import { InvalidArgumentError } from "@harnesskit/wire";
import { Ajv } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import type { Validated } from "./schema.ts";

/** They stop at the first problem, so that a hostile input cannot make them collect millions. `format` is an annotation. */
const compilers: { draft7?: Ajv; draft2020?: Ajv } = {};
const options = { strict: false, validateFormats: false, addUsedSchema: false, logger: false } as const;

const draft7 = /^https?:\/\/json-schema\.org\/draft-07\/schema#?$/;

const compilerOf = ({ $schema }: JsonObject): Ajv => {
  if (typeof $schema === "string" && draft7.test($schema)) {
    compilers.draft7 ??= new Ajv(options);
    return compilers.draft7;
  }
  compilers.draft2020 ??= new Ajv2020(options);
  return compilers.draft2020;
};

const nameIn = (params: Record<string, unknown>): string | undefined => {
  const { type, missingProperty } = params;
  const name = missingProperty ?? type;
  return typeof name === "string" ? name : undefined;
};

/** Compiles a JSON Schema (draft 2020-12, or draft-07 where `$schema` says so). Throws `invalid_argument` when it is not valid. */
export const compileJsonSchema = (schema: JsonObject, name: string): ((value: unknown) => Validated) => {
  let check: ReturnType<Ajv["compile"]>;
  try {
    const compiler = compilerOf(schema);
    check = compiler.compile(schema);
    // It would be kept for as long as the process lives, and tools may come and go.
    compiler.removeSchema(schema);
  } catch (cause) {
    throw new InvalidArgumentError(`${name} is not a valid JSON Schema (draft 2020-12 or draft-07)`, {
      cause,
    });
  }
  return (value) => {
    if (check(value)) return { ok: true, value };
    const problems = (check.errors ?? []).slice(0, 1).map(({ instancePath, keyword, params }) => {
      const expected = nameIn(params);
      return {
        path: instancePath.slice(0, 256),
        problem: keyword,
        ...(expected !== undefined && { expected: expected.slice(0, 128) }),
      };
    });
    return { ok: false, problems };
  };
};
