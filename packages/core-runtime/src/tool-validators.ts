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

/** A schema as it was judged. */
export interface JudgedSchema extends SafeSchema {
  /** Once it was needed. */
  validator?: Validator | undefined;
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

/** What is wrong with a value by a schema, which is compiled when it is first needed. After `loadSchemaCompiler`. */
export const checkValue = (
  schema: JudgedSchema,
  value: unknown,
  { maxValidationSteps }: Pick<CoreLimits, "maxValidationSteps">,
): ValidationProblem | undefined => {
  schema.validator ??= compileSchema?.(schema.schema, maxValidationSteps);
  return schema.validator ? schema.validator(value) : cannotCheck;
};
