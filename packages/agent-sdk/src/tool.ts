import { type ToolDeclaration, ToolNameSchema } from "@harnesskit/protocol/runtime";
import { InvalidArgumentError } from "@harnesskit/wire";
import * as shared from "@harnesskit/wire/tool";
import { checkTool } from "./option-names.ts";
import { type CompiledSchema, compileSchema } from "./schema.ts";
import type { ToolContext } from "./tool-context.ts";

/**
 * A tool that an agent serves: the shape of `@harnesskit/wire/tool`, with optional members of the runtime protocol.
 * Its `prepare` is not used here. `effects` is declared as `side_effects`: false for `read`.
 */
export interface Tool extends shared.Tool<ToolContext> {
  /** The core may call it only for a directive. @default false */
  readonly requiresDirective?: boolean | undefined;
  /** What of the manifest's `permissions` the tool needs; `[]` for none. @default all of them */
  readonly permissions?: readonly string[] | undefined;
  /** Such as `streaming` and `cancellation`; metadata. */
  readonly capabilities?: readonly string[] | undefined;
  /** For grouping in a user interface. */
  readonly tags?: readonly string[] | undefined;
  /** The longest that a call may take; a call's own `timeout_ms` may be shorter. @default as the call says */
  readonly timeoutMs?: number | undefined;
}

/** What a function without `return` gives. */
export type Nothing = ReturnType<() => void>;

/** What `run` returns: the schema's input type; without one any object that has a JSON form, or nothing. */
export type ToolOutput<Schema> = Schema extends shared.ToolSchema
  ? Schema extends shared.StandardSchema
    ? shared.ToolOutput<Schema>
    : object
  : object | undefined | Nothing;

/** What `tool` takes: a tool whose `run` is typed by its schemas. */
export interface ToolDefinition<
  Input extends shared.ToolSchema,
  Output extends shared.ToolSchema | undefined = undefined,
> extends Omit<Tool, "input" | "output" | "run"> {
  readonly input: Input;
  /** What does not match fails with `tool.invalid_output`. */
  readonly output?: Output | undefined;
  /**
   * Does the work. Throws `ToolError` to fail with a code and message of its own; anything else that it throws becomes
   * `tool.failed` in general words. Should end soon after `context.signal` aborts.
   */
  run(input: shared.ToolInput<Input>, context: ToolContext): ToolOutput<Output> | Promise<ToolOutput<Output>>;
}

/** A tool that is ready to be served. */
export interface CompiledTool {
  readonly name: string;
  readonly input: CompiledSchema;
  readonly output: CompiledSchema | undefined;
  readonly timeoutMs: number | undefined;
  run(input: unknown, context: ToolContext): unknown;
  /** Makes its schemas ready. Rejects with `invalid_argument` for a JSON Schema that is not valid. */
  load(): Promise<unknown>;
  /** As the tool is registered (section 4.2.1). */
  declarationFor(agentId: string): ToolDeclaration;
}

const compiled = new WeakMap<Tool, CompiledTool>();

const compile = (tool: Tool): CompiledTool => {
  const { name, description, effects, requiresDirective, permissions, capabilities, tags, timeoutMs } = tool;
  if (!ToolNameSchema.safeParse(name).success) {
    throw new InvalidArgumentError(
      `tool ${name}: the name must begin with a letter, a digit or _, and have letters, digits, _, . and -, up to 128`,
    );
  }
  if (timeoutMs !== undefined && !(timeoutMs > 0)) {
    throw new InvalidArgumentError(`tool ${name}: timeoutMs must be a positive number`);
  }
  const input = compileSchema(tool.input, "input", tool.inputSchema, `tool ${name}: input`);
  const output =
    tool.output && compileSchema(tool.output, "output", tool.outputSchema, `tool ${name}: output`);
  const declaration = {
    name,
    description,
    input_schema: input.jsonSchema,
    output_schema: output ? output.jsonSchema : undefined,
    capabilities: capabilities ? [...capabilities] : undefined,
    side_effects: effects ? effects !== "read" : undefined,
    requires_directive: requiresDirective,
    permissions: permissions ? [...permissions] : undefined,
    tags: tags ? [...tags] : undefined,
  };
  return {
    name,
    input,
    output,
    timeoutMs,
    load: () => Promise.all([input.load(), output?.load()]),
    run: (value, context) => tool.run(value as Parameters<Tool["run"]>[0], context),
    declarationFor: (agentId) => ({ tool_id: `${agentId}/${name}`, ...declaration }),
  };
};

/** Throws `invalid_argument` for a name, schema or time limit that cannot be used. */
export const compileTool = (tool: Tool): CompiledTool => {
  const known = compiled.get(tool) ?? compile(tool);
  compiled.set(tool, known);
  return known;
};

/**
 * Defines a tool. `input` and `output` are zod schemas, other Standard Schemas or JSON Schemas; the types of `run`
 * follow from them. Throws `invalid_argument` for an unknown member, and for a name, schema or time limit that cannot be used; a JSON Schema is compiled
 * when the tool is first served or called, which then rejects so.
 */
export const tool = <
  const Input extends shared.ToolSchema,
  const Output extends shared.ToolSchema | undefined = undefined,
>(
  definition: ToolDefinition<Input, Output>,
): Tool => {
  const made: Tool = shared.tool(checkTool(definition as unknown as Tool));
  compileTool(made);
  return made;
};
