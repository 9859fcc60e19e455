import { BoundedMap } from "@harnesskit/wire";
import type { CoreLimits } from "./core-limits.ts";
import type { SafeSchema } from "./safe-schema.ts";

/** Where a value does not match its schema, without anything of the value. */
export interface ValidationProblem {
  /** JSON pointer to the place in the value. */
  readonly path: string;
  /** The keyword of the schema that failed. */
  readonly keyword: string;
  /** For people: `must be string`. */
  readonly message: string;
}

/** Returns undefined for a value that matches. */
export type Validator = (value: unknown) => ValidationProblem | undefined;

/** A schema as it was judged, with the digest that it is compiled under. */
export interface JudgedSchema {
  readonly digest: string;
  readonly safe: Extract<SafeSchema, { ok: true }>;
}

const cannotCheck: ValidationProblem = { path: "", keyword: "", message: "cannot be checked" };

let compileSchema: typeof import("./schema-compiler.ts").compileSchema | undefined;

/** Loads the compiler of schemas, which no core needs before an agent registers tools; undefined where it is there. */
export const loadSchemaCompiler = (): Promise<void> | undefined =>
  compileSchema
    ? undefined
    : import("./schema-compiler.ts").then((compiler) => {
        compileSchema = compiler.compileSchema;
      });

/** Checks values against the schemas of untrusted tools; each schema is compiled when it is first needed. */
export class ToolValidators {
  readonly #maxSteps: number;
  readonly #compiled: BoundedMap<string, Validator>;

  constructor({ maxValidationSteps, maxCompiledSchemas }: CoreLimits) {
    this.#maxSteps = maxValidationSteps;
    this.#compiled = new BoundedMap({ maxSize: maxCompiledSchemas });
  }

  /** Returns undefined for a value that matches the schema. After `loadSchemaCompiler`. */
  check({ digest, safe }: JudgedSchema, value: unknown): ValidationProblem | undefined {
    let validator = this.#compiled.get(digest);
    if (!validator) {
      validator = compileSchema?.(safe.schema, this.#maxSteps) ?? (() => cannotCheck);
      this.#compiled.set(digest, validator);
    }
    return validator(value);
  }
}
