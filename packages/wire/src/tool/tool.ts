import type { JsonObject, JsonValue } from "@harnesskit/protocol/envelope";
import { InvalidArgumentError } from "../errors.ts";
import {
  type InferInput,
  type InferOutput,
  isStandardSchema,
  type JsonSchema,
  type StandardSchema,
  type ToolSchema,
} from "./schema.ts";

/** What running a tool may do. A host asks before it runs anything but `read`. */
export type ToolEffects = "read" | "write" | "execute";

/** Where a call runs, as far as its host knows. */
export interface ToolScope {
  /** The host's id of the call. */
  readonly callId: string;
  /** Absolute path of the workspace that the call is confined to. */
  readonly directory?: string | undefined;
  /** The conversation that the call belongs to. */
  readonly threadId?: string | undefined;
  /** Aborts when the call is no longer wanted. */
  readonly signal?: AbortSignal | undefined;
}

/** What a running call may use. Hosts extend it. */
export interface ToolContext {
  readonly callId: string;
  /** Aborts when the result is no longer wanted; the tool stops what it started. */
  readonly signal: AbortSignal;
  /** Streams output while the call runs. A promise settles when there is room for more. */
  readonly stdout: (text: string) => Promise<void> | void;
  readonly stderr: (text: string) => Promise<void> | void;
  /** A line for the log of the call, what the tool does now, and a part of its result. Left out by a host that has no place for them. */
  readonly log?: (text: string) => Promise<void> | void;
  readonly status?: (text: string) => Promise<void> | void;
  readonly partialResult?: (json: JsonObject) => Promise<void> | void;
  /** The approval of exactly this call, and the approver's name; left out where no human was asked. */
  readonly approval?: { readonly id: string; readonly by: string } | undefined;
}

/** One call, validated and normalised: exactly what is shown, digested, approved and run. */
export interface PreparedCall {
  readonly input: JsonObject;
  /**
   * What a human judges beside the input, such as a unified diff. Untrusted text: display it safely. A preview that
   * leaves something out says so on a line that begins like `[the diff is cut here`; such a call cannot be allowed for
   * always.
   */
  readonly preview?: string | undefined;
  /** Runs the call once. @default the tool's own `run` with this input */
  run?(context: ToolContext): Promise<unknown>;
}

/**
 * A tool that an agent may call: one shape for thread servers, tool processes and, by adapters, the AI SDK. Create it
 * with {@link tool}, which infers the types of `run`. Members that a host does not use are ignored there.
 */
export interface Tool<Context extends ToolContext = ToolContext> {
  readonly name: string;
  /** What policies and audit logs know it by where it is served: `AGENT/NAME`. @default unknown */
  readonly id?: string;
  /** For people and models: what the tool does. */
  readonly description: string;
  /** Describes the input, a JSON object: a Standard Schema (zod, valibot, …) or a JSON Schema. */
  readonly input: ToolSchema;
  /** Describes the output. */
  readonly output?: ToolSchema;
  /** JSON Schema that is declared for `input`, where its library provides none. */
  readonly inputSchema?: JsonSchema;
  /** JSON Schema that is declared for `output`, where its library provides none. */
  readonly outputSchema?: JsonSchema | undefined;
  /** @default unknown, which hosts treat as `execute` */
  readonly effects?: ToolEffects | undefined;
  /**
   * True: to run it again with the same input does no harm, although it may have run. A host that goes on after a crash then runs a
   * call again whose end it does not know. @default false; a tool that only reads is repeated
   */
  readonly idempotent?: boolean | undefined;
  /**
   * Does the work with a validated input. Throws `ToolError` for an expected failure; anything else is reported without
   * detail.
   */
  run(input: JsonObject, context: Context): unknown;
  /**
   * Validates and normalises an input without any effect, and may add a preview. Throws `ToolError`
   * `tool.invalid_input`. @default the input as its schema parses it
   */
  prepare?(input: unknown, scope: ToolScope): Promise<PreparedCall>;
}

/** What `run` receives: the schema's output type; any JSON object for a JSON Schema. */
export type ToolInput<Schema> = Schema extends StandardSchema ? InferOutput<Schema> : JsonObject;

/** What `run` returns: the schema's input type; any JSON value without one. */
export type ToolOutput<Schema> = Schema extends StandardSchema
  ? InferInput<Schema>
  : JsonValue | undefined | ReturnType<() => void>;

export interface ToolDefinition<
  Input extends ToolSchema,
  Output extends ToolSchema | undefined = undefined,
  Context extends ToolContext = ToolContext,
> extends Omit<Tool<Context>, "input" | "output" | "run"> {
  readonly input: Input;
  readonly output?: Output;
  run(input: ToolInput<Input>, context: Context): ToolOutput<Output> | Promise<ToolOutput<Output>>;
}

const namePattern = /^[A-Za-z0-9_.-]{1,128}$/;

/**
 * Defines a tool. Throws `invalid_argument` for a name other than 1 to 128 letters, digits, `_`, `.` and `-`, a
 * description that is not a string, and an input that is not a schema.
 *
 * @example
 * const add = tool({
 *   name: "add",
 *   description: "Adds two numbers.",
 *   input: z.object({ a: z.number(), b: z.number() }),
 *   effects: "read",
 *   run: ({ a, b }) => a + b,
 * });
 */
export const tool = <
  const Input extends ToolSchema,
  const Output extends ToolSchema | undefined = undefined,
  Context extends ToolContext = ToolContext,
>(
  definition: ToolDefinition<Input, Output, Context>,
): Tool<Context> => {
  const { name, description, input, output, ...rest } = definition;
  if (typeof name !== "string" || !namePattern.test(name)) {
    throw new InvalidArgumentError("tool: name must be 1 to 128 letters, digits, _, . or -");
  }
  if (typeof description !== "string") {
    throw new InvalidArgumentError(`tool ${name}: description must be a string`);
  }
  assertSchema(input, `tool ${name}: input`);
  if (output !== undefined) assertSchema(output, `tool ${name}: output`);
  const shape = { ...rest, name, description, input, output };
  // The host calls `run` with what the schema parsed.
  return Object.freeze(shape) as unknown as Tool<Context>;
};

const assertSchema = (schema: unknown, name: string): void => {
  const isJsonSchema = typeof schema === "object" && schema !== null && !Array.isArray(schema);
  if (!isJsonSchema && !isStandardSchema(schema)) {
    throw new InvalidArgumentError(`${name} must be a Standard Schema or a JSON Schema object`);
  }
};
