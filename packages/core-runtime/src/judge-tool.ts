import { sha256Digest } from "@harnesskit/node-kit";
import type { JsonObject } from "@harnesskit/protocol/envelope";
import {
  type RuntimeError,
  RuntimeErrorCode,
  type ToolDeclaration,
  ToolDeclarationSchema,
  ToolIdSchema,
} from "@harnesskit/protocol/runtime";
import { HarnessError } from "@harnesskit/wire";
import { canonicalJson, isObject, jsonProblem } from "@harnesskit/wire/json";
import type { CoreLimits } from "./core-limits.ts";
import { type SafeSchema, SchemaRefusal, toSafeSchema } from "./safe-schema.ts";

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

/** A tool that agents have registered. */
export interface ToolInfo extends Readonly<ToolDeclaration> {
  readonly agent_id: string;
  /** `sha256:` and the hex digest of both schemas in canonical form. */
  readonly schema_digest: string;
  /** `sha256:` and the hex digest of what a call is allowed by: the schemas, `side_effects`, `permissions` and `requires_directive`. */
  readonly declaration_digest: string;
  /** Patterns in its schemas with lookaround or back references: they are left to the agent. */
  readonly unchecked_patterns: number;
}

/** One registration of a tool. */
export interface RegisteredTool {
  readonly info: ToolInfo;
  /** About as many characters as the declaration has. */
  readonly length: number;
  readonly input: JudgedSchema;
  readonly output: JudgedSchema | undefined;
}

/** The schemas are judged separately: they may be large, and follow stricter rules than any JSON object. */
const WithoutSchemas = ToolDeclarationSchema.omit({ input_schema: true, output_schema: true });

/** Roughly what a declaration holds beside its schemas and its description, in characters. */
const restLength = 512;

/** Why a declaration is not registered. */
export class ToolRefusal extends HarnessError {
  static override readonly brand = "ToolRefusal";

  constructor(
    code: RuntimeErrorCode,
    message: string,
    readonly path?: string,
  ) {
    super(code, message);
  }

  toRuntimeError(): RuntimeError {
    const { code, message, path } = this;
    return { code, message, where: "core.registry", details: path === undefined ? undefined : { path } };
  }
}

/** A schema as it was judged, and as it was declared: in canonical form. */
const judgeSchema = (
  declared: unknown,
  side: "input_schema" | "output_schema",
  limits: CoreLimits,
): { readonly judged: JudgedSchema; readonly declared: JsonObject; readonly text: string } => {
  const refuse = (message: string, path = "") =>
    new ToolRefusal(RuntimeErrorCode.InvalidTool, message, `/${side}${path}`);
  if (!isObject(declared)) throw refuse("a schema must be an object");
  try {
    const judged = toSafeSchema(declared, limits);
    return { judged, declared: declared as JsonObject, text: canonicalJson(declared) };
  } catch (cause) {
    if (!(cause instanceof SchemaRefusal)) throw refuse("a schema holds a string that is not valid Unicode");
    throw refuse(`${side}: ${cause.problem}`, cause.path.slice(0, 256));
  }
};

/**
 * Judges one entry of `agent.tools.register` on its own. Takes time linear in its size; nothing is compiled. Throws
 * {@link ToolRefusal}.
 */
export const judgeTool = (
  declared: Readonly<Record<string, unknown>>,
  agentId: string,
  limits: CoreLimits,
): RegisteredTool => {
  const { InvalidTool, NotNamespaced, ToolTooLarge } = RuntimeErrorCode;
  const { maxToolBytes } = limits;
  const notJson = jsonProblem(declared, { maxBytes: maxToolBytes });
  if (notJson?.code === "too_large") {
    throw new ToolRefusal(ToolTooLarge, `the declaration exceeds ${maxToolBytes} bytes`);
  }
  if (notJson) throw new ToolRefusal(InvalidTool, "the declaration is not JSON");
  const { tool_id: toolId, input_schema: inputSchema, output_schema: outputSchema } = declared;
  if (!ToolIdSchema.safeParse(toolId).success || !String(toolId).startsWith(`${agentId}/`)) {
    throw new ToolRefusal(NotNamespaced, `a tool's id must be ${agentId}/ and its name`);
  }
  const { data: rest, error } = WithoutSchemas.safeParse(declared);
  if (!rest) {
    const path = error.issues[0]?.path.join("/") ?? "";
    throw new ToolRefusal(InvalidTool, "the declaration is malformed", `/${path}`);
  }
  if (`${agentId}/${rest.name}` !== toolId) {
    throw new ToolRefusal(InvalidTool, "the name must be the end of the tool's id", "/name");
  }
  const input = judgeSchema(inputSchema, "input_schema", limits);
  const output = outputSchema === undefined ? undefined : judgeSchema(outputSchema, "output_schema", limits);
  const outputText = output?.text ?? "";
  const schemaDigest = sha256Digest(`${input.text}\n${outputText}`);
  const { side_effects: effects = null, requires_directive: directive = false, permissions = null } = rest;
  return {
    info: {
      ...rest,
      input_schema: input.declared,
      output_schema: output?.declared,
      agent_id: agentId,
      schema_digest: schemaDigest,
      declaration_digest: sha256Digest(canonicalJson([schemaDigest, effects, directive, permissions])),
      unchecked_patterns: input.judged.uncheckedPatterns + (output?.judged.uncheckedPatterns ?? 0),
    },
    length: restLength + rest.description.length + input.text.length + outputText.length,
    input: input.judged,
    output: output?.judged,
  };
};
