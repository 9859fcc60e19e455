import type { JsonObject } from "@harnesskit/protocol/envelope";
import { InvalidArgumentError } from "@harnesskit/wire";
import {
  isStandardSchema,
  type JsonSchema,
  type SchemaIssue,
  type SchemaResult,
  type ToolSchema,
  toJsonSchema,
} from "@harnesskit/wire/tool";
import type { Ajv2020 } from "ajv/dist/2020.js";

/** Stops at the first problem, so that a hostile input cannot make it collect millions. `format` is an annotation. */
let compiler: Ajv2020 | undefined;

const nameIn = (params: Record<string, unknown>): string | undefined => {
  const { type, missingProperty } = params;
  const name = missingProperty ?? type;
  return typeof name === "string" ? name : undefined;
};

/** Compiles a JSON Schema (draft 2020-12). Rejects with `invalid_argument` when it is not valid. */
const compileJsonSchema = async (
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

/** Where a value does not match and why: never the value itself. */
export interface Problem {
  /** A JSON Pointer; empty for the whole. */
  readonly path: string;
  /** What was broken, such as `invalid_type` or `required`. */
  readonly problem: string;
  /** The type or name that the schema asked for. */
  readonly expected?: string | undefined;
}

export type Validated =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/** A schema that can be declared and checked against. */
export interface CompiledSchema {
  readonly jsonSchema: JsonObject;
  /** Makes it ready to validate. Rejects with `invalid_argument` where it is not a valid JSON Schema. */
  load(): Promise<unknown>;
  validate(value: unknown): Validated | Promise<Validated>;
}

const maxProblems = 16;
const maxPathLength = 256;
const identifier = /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/;

const pointerOf = (path: SchemaIssue["path"]): string => {
  let pointer = "";
  for (const segment of path ?? []) {
    const key = typeof segment === "object" ? segment.key : segment;
    pointer += `/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`;
  }
  return pointer.slice(0, maxPathLength);
};

/** Only the name of the rule is taken: a message may quote the value. */
const toProblem = (issue: SchemaIssue): Problem => {
  const { code, type, expected } = issue as { code?: unknown; type?: unknown; expected?: unknown };
  const rule = [code, type].find((name) => typeof name === "string" && identifier.test(name));
  return {
    path: pointerOf(issue.path),
    problem: (rule as string | undefined) ?? "invalid",
    expected: typeof expected === "string" && identifier.test(expected) ? expected : undefined,
  };
};

const toValidated = (result: SchemaResult<unknown>): Validated =>
  result.issues
    ? { ok: false, problems: result.issues.slice(0, maxProblems).map(toProblem) }
    : { ok: true, value: result.value };

const withJsonSchema = (jsonSchema: JsonObject, name: string): CompiledSchema => {
  let check: ((value: unknown) => Validated) | undefined;
  const load = async () => {
    check ??= await compileJsonSchema(jsonSchema, name);
    return check;
  };
  return {
    jsonSchema,
    load,
    validate: (value) => (check ? check(value) : load().then((loaded) => loaded(value))),
  };
};

/**
 * Makes a schema ready: `beside` is the JSON Schema given next to one that cannot provide its own. Throws
 * `invalid_argument` when it is missing, not valid, or does not describe an object.
 */
export const compileSchema = (
  schema: ToolSchema,
  side: "input" | "output",
  beside: JsonSchema | undefined,
  name: string,
): CompiledSchema => {
  const jsonSchema = toJsonSchema(schema, { side, beside, name });
  if (!isStandardSchema(schema)) return withJsonSchema(jsonSchema, name);
  return {
    jsonSchema,
    load: async () => {},
    validate(value) {
      const result = schema["~standard"].validate(value);
      return result instanceof Promise ? result.then(toValidated) : toValidated(result);
    },
  };
};
