import type { JsonObject } from "@harnesskit/protocol/envelope";
import { type ToolDeclaration, ToolNameSchema } from "@harnesskit/protocol/runtime";
import { InvalidArgumentError } from "@harnesskit/wire";
import type { StandardSchemaV1 } from "@standard-schema/spec";
import { type CompiledSchema, compileSchema, type JsonSchema, type ToolSchema } from "./schema.ts";
import type { ToolContext } from "./tool-context.ts";

/** What `run` gets: the schema's output type; any JSON object for a JSON Schema. */
export type ToolInput<S extends ToolSchema> = S extends StandardSchemaV1
  ? StandardSchemaV1.InferOutput<S>
  : JsonObject;

/** What a function without `return` gives. */
export type Nothing = ReturnType<() => void>;

/** What `run` returns: the schema's input type; without one any object that has a JSON form, or nothing. */
export type ToolOutput<S extends ToolSchema | undefined> = S extends StandardSchemaV1
  ? StandardSchemaV1.InferInput<S>
  : S extends JsonSchema
    ? object
    : object | undefined | Nothing;

export interface ToolDefinition<Input extends ToolSchema, Output extends ToolSchema | undefined = undefined> {
  /** The name without the agent's: letters, digits, `_`, `.` and `-`, up to 128. */
  readonly name: string;
  /** For people and models: what the tool does. */
  readonly description: string;
  /** Describes the input, a JSON object. What fits is parsed with it before `run` sees it. */
  readonly input: Input;
  /** Describes the output. What does not fit fails with `tool.invalid_output`. */
  readonly output?: Output;
  /** JSON Schema that is declared for `input`, where its library gives none. */
  readonly inputSchema?: JsonSchema;
  /** JSON Schema that is declared for `output`, where its library gives none. */
  readonly outputSchema?: JsonSchema;
  /** The tool changes something outside itself. Left out: nobody knows. */
  readonly sideEffects?: boolean;
  /** The core may call it only for a directive. @default false */
  readonly requiresDirective?: boolean;
  /** Such as `streaming` and `cancellation`; metadata. */
  readonly capabilities?: readonly string[];
  /** For grouping in a user interface. */
  readonly tags?: readonly string[];
  /** The longest that a call may take; a call's own `timeout_ms` may be shorter. @default as the call says */
  readonly timeoutMs?: number;
  /**
   * Does the work. Throws {@link ToolError} to fail with a code and message of its own; anything else that it throws
   * becomes `tool.failed` in general words. Should end soon after `context.signal` aborts.
   */
  run(input: ToolInput<Input>, context: ToolContext): ToolOutput<Output> | Promise<ToolOutput<Output>>;
}

/** A tool that is ready to be served. Made with {@link tool}. */
export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly input: CompiledSchema;
  readonly output?: CompiledSchema;
  readonly timeoutMs?: number;
  run(input: unknown, context: ToolContext): unknown;
  /** As the tool is registered (section 4.2.1). */
  declarationFor(agentId: string): ToolDeclaration;
}

/**
 * Defines a tool. `input` and `output` are zod schemas, other Standard Schemas or JSON Schemas; the types of `run`
 * follow from them. Throws `invalid_argument` for a name, schema or time limit that cannot be used.
 */
export const tool = <const Input extends ToolSchema, const Output extends ToolSchema | undefined = undefined>(
  definition: ToolDefinition<Input, Output>,
): Tool => {
  const { name, description, sideEffects, requiresDirective, capabilities, tags, timeoutMs } = definition;
  if (!ToolNameSchema.safeParse(name).success) {
    throw new InvalidArgumentError("a tool's name has letters, digits, _, . and -, up to 128");
  }
  if (typeof description !== "string") throw new InvalidArgumentError(`tool ${name}: description is a text`);
  if (timeoutMs !== undefined && !(timeoutMs > 0)) {
    throw new InvalidArgumentError(`tool ${name}: timeoutMs is a positive number`);
  }
  const input = compileSchema(definition.input, "input", definition.inputSchema, name);
  const output =
    definition.output === undefined
      ? undefined
      : compileSchema(definition.output, "output", definition.outputSchema, name);
  const declaration = {
    name,
    description,
    input_schema: input.jsonSchema,
    ...(output !== undefined && { output_schema: output.jsonSchema }),
    ...(capabilities !== undefined && { capabilities: [...capabilities] }),
    ...(sideEffects !== undefined && { side_effects: sideEffects }),
    ...(requiresDirective !== undefined && { requires_directive: requiresDirective }),
    ...(tags !== undefined && { tags: [...tags] }),
  };
  return Object.freeze({
    name,
    description,
    input,
    ...(output !== undefined && { output }),
    ...(timeoutMs !== undefined && { timeoutMs }),
    run: (value: unknown, context: ToolContext) => definition.run(value as ToolInput<Input>, context),
    declarationFor: (agentId: string) => ({ tool_id: `${agentId}/${name}`, ...declaration }),
  });
};
