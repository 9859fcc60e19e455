import type { JsonObject, JsonValue } from "@harnesskit/protocol/envelope";
import type { Actor } from "@harnesskit/protocol/runtime";
import { callSafely } from "@harnesskit/wire";
import { isPlainObject } from "@harnesskit/wire/json";
import {
  type JsonSchema,
  type PreparedCall,
  type Tool,
  type ToolContext,
  ToolError,
  type ToolScope,
} from "@harnesskit/wire/tool";
import type { CallOptions } from "../call-options.ts";
import type { CallResult } from "../call-result.ts";
import type { StreamChunk } from "../call-stream.ts";
import { coreLimits } from "../core-limits.ts";
import { checkThreadToolsOptions } from "../option-names.ts";
import type { ToolHost } from "./tool-host.ts";

/** Longer than the agent's own limits, which give a better reason. */
const prepareTimeoutMs = 60_000;
/** What a core gives at the most: a call that reports progress may go on, and a human can cancel it. */
const runTimeoutMs = coreLimits.defaults.maxTimeoutMs;

/** What an agent's `prepare` tool returns: the canonical input, what a human judges, and what the call is bound to. */
interface Prepared {
  readonly input: JsonObject;
  readonly preview?: string | undefined;
  readonly expected?: JsonValue | undefined;
}

const hasParts = (value: JsonValue): value is JsonValue & Prepared =>
  isPlainObject(value) &&
  isPlainObject(value.input) &&
  (value.preview === undefined || typeof value.preview === "string");

/** A tool that is prepared before it runs. */
export interface ThreadTool extends Tool {
  prepare(input: unknown, scope: ToolScope): Promise<PreparedCall & Required<Pick<PreparedCall, "run">>>;
}

/** For whom a conversation calls tools. */
export interface HostedCallOrigin {
  /** The caller in the core's audit log. @default "thread-server" */
  readonly callerId?: string | undefined;
  /** Who the conversation acts for. @default unknown */
  readonly actor?: Actor | undefined;
}

interface HostedToolOptions
  extends HostedCallOrigin,
    Pick<Tool, "name" | "description" | "input" | "effects"> {
  readonly host: Pick<ToolHost, "call" | "check">;
  /** `AGENT/NAME` */
  readonly id: string;
  /** The agent's tool that prepares the calls of this one. @default the input is checked by its schema alone */
  readonly prepareId?: string | undefined;
  /** Whether an output of that tool is one of this agent. @default it has an `input`, and a `preview` that is a string */
  readonly isPrepared?: ((output: JsonValue) => boolean) | undefined;
  /** The declaration that a call is meant for. @default any */
  readonly declarationDigest?: string | undefined;
  /** Begins the preview. @default no line */
  readonly about?: string | undefined;
}

/**
 * A tool of an agent: prepared, shown, and then run as it was shown, or not at all. One that requires a directive gets one
 * for exactly the call that a human approved; without an approval it is refused (`tool.directive_required`).
 */
export const createHostedTool = (options: HostedToolOptions): ThreadTool => {
  const { host, id, name, description, input, effects, prepareId, declarationDigest, about } = options;
  const { isPrepared = () => true } = options;

  const originOf = ({ threadId, directory, callId }: ToolScope): CallOptions => ({
    caller: { type: "agent", id: options.callerId ?? "thread-server" },
    actor: options.actor,
    correlationId: threadId,
    causationId: callId,
    context: directory === undefined ? undefined : { project_root: directory },
    declarationDigest,
  });

  const prepareInput = async (given: unknown, origin: CallOptions): Promise<Prepared> => {
    if (prepareId === undefined) {
      return { input: withDefaults(structuredClone(given ?? {}) as JsonObject, input) };
    }
    const wanted = { tool: id.slice(id.indexOf("/") + 1), input: (given ?? null) as JsonValue };
    const timed = { timeoutMs: prepareTimeoutMs, isRepeatable: true, declarationDigest: undefined };
    const result = await host.call(prepareId, wanted, { ...origin, ...timed }, () => {});
    if (result.status !== "succeeded") throw failureOf(result, { wasRun: false });
    if (hasParts(result.output) && isPrepared(result.output)) return result.output;
    throw new ToolError("tool.failed", "The process of the tools did not prepare the call.");
  };

  /** Runs what was prepared, with what binds the call to it. */
  const run = async (
    { input: prepared, expected }: Prepared,
    origin: CallOptions,
    context: ToolContext,
  ): Promise<JsonValue> => {
    const { signal, approval } = context;
    const { show, output, finish } = chunkReader(context);
    // An observer that throws does not break the call.
    const onChunk = (chunk: StreamChunk) => callSafely(() => show(chunk));
    const bound = boundInput(prepared, expected);
    const result = await host.call(
      id,
      bound,
      { ...origin, signal, approval, timeoutMs: runTimeoutMs },
      onChunk,
    );
    if (result.status !== "succeeded") throw failureOf(result, { wasRun: true, output: output() });
    finish();
    return result.output;
  };

  return {
    id,
    name,
    description,
    input,
    effects,
    async prepare(given, scope) {
      const origin = originOf(scope);
      const prepared = await prepareInput(given, origin);
      // What would be refused is not shown to a human. Tools that are declared here are checked when they are called.
      if (prepareId === undefined || declarationDigest !== undefined) {
        const refused = await host.check(id, boundInput(prepared.input, prepared.expected), origin);
        if (refused && refused.status !== "succeeded") throw failureOf(refused, { wasRun: false });
      }
      const preview = [about, prepared.preview].filter((text) => text !== undefined).join("\n\n");
      return {
        input: prepared.input,
        preview: preview === "" ? undefined : preview,
        run: (context) => run(prepared, origin, context),
      };
    },
    // No human is asked: the core checks the call when it is made.
    async run(given, context) {
      const origin = originOf(context);
      return run(await prepareInput(given, origin), origin, context);
    },
  };
};

const boundInput = (input: JsonObject, expected: JsonValue | undefined): JsonObject =>
  expected === undefined ? input : { ...input, expected };

/** What is required and missing, with the schema's default: models leave it out, and a human should see what runs. */
const withDefaults = <Value extends JsonValue>(value: Value, schema: unknown): Value => {
  if (!isPlainObject(value) || !isPlainObject(schema) || !isPlainObject(schema.properties)) return value;
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  const filled: Record<string, JsonValue> = { ...value };
  for (const [name, part] of Object.entries(schema.properties)) {
    if (Object.hasOwn(value, name)) filled[name] = withDefaults(value[name] as JsonValue, part);
    else if (required.has(name) && isPlainObject(part) && part.default !== undefined) {
      filled[name] = part.default as JsonValue;
    }
  }
  return filled as Value;
};

/** Shows what a call streams. The last part of a call that fails is its output: a part is shown once there is another, or at the finish. */
const chunkReader = ({ stdout, stderr, ...context }: ToolContext) => {
  let output: JsonObject | undefined;
  const line = (text: string) => stderr(`${text}\n`);
  const { log = line, status = line, partialResult } = context;
  const show = ({ channel, data, dropped = 0, missing = 0 }: StreamChunk): void => {
    const lost = dropped + missing;
    if (lost > 0) void stderr(`\n[${lost} pieces of output are missing here]\n`);
    if (channel === "status") void status("json" in data ? JSON.stringify(data.json) : data.text);
    else if ("json" in data) {
      if (output) void partialResult?.(output);
      output = data.json;
    } else if (channel === "stdout") void stdout(data.text);
    else if (channel === "stderr") void stderr(data.text);
    else if (channel === "log") void log(data.text);
  };
  const finish = () => {
    if (output) void partialResult?.(output);
  };
  return { show, finish, output: () => output };
};

/** After these it is unknown how far a call came that the agent had received. */
const openEnds: ReadonlySet<string> = new Set(["agent.lost", "core.closed", "protocol.invalid_message"]);

/** The failure of a call: cancelled, timed out, refused, unavailable and lost keep codes of their own. */
const failureOf = (
  { error }: Exclude<CallResult, { status: "succeeded" }>,
  { wasRun, output }: { readonly wasRun: boolean; readonly output?: JsonValue | undefined },
): ToolError => {
  const { code, message, where } = error;
  const made = (as: string, text: string, mayHaveRun?: true) =>
    new ToolError(as, text, { output, mayHaveRun });
  if (code === "tool.canceled") return made("tool.cancelled", "The call was cancelled.");
  // An agent's tools may use these codes for what they work on, the core uses them for the tool.
  if (code === "tool.not_found" && where === "core") {
    return made("agent.unavailable", "The process of the tools has no such tool now.");
  }
  if (code === "tool.changed" && where === "core") {
    return made(code, "The tool is declared otherwise since it was shown; it was not run.");
  }
  if (wasRun && openEnds.has(code)) {
    return made(code, "The process that ran the tool is gone. It may have run, wholly or in part.", true);
  }
  // The tool says so itself.
  const mayHaveRun = wasRun && error.details?.may_have_run === true;
  return made(code, message, mayHaveRun || undefined);
};

export interface ThreadToolsOptions extends HostedCallOrigin {
  /** The agent that has the tools. */
  readonly agentId: string;
  /** What the tools may do (`effects`) is what these declarations say, and not what the agent's process says. */
  readonly tools: readonly (Pick<Tool, "name" | "description" | "effects"> & {
    readonly inputSchema: JsonSchema;
  })[];
  readonly host: Pick<ToolHost, "call" | "check">;
  /** Whether an output of `prepare` is one of this agent. @default it has an `input`, and a `preview` that is a string */
  readonly isPrepared?: ((output: JsonValue) => boolean) | undefined;
}

/** The name of the tool with which an agent prepares calls of its others. */
export const prepareName = "prepare";

/**
 * Tools of an agent whose declarations are known before it runs, as tools of a thread server. The agent's tool `prepare`, which
 * takes `{ tool, input }` and returns `{ input, preview, expected }` without any effect, prepares each call, and what runs is what was shown, or nothing. Throws `invalid_argument` for invalid options.
 */
export const createThreadTools = (options: ThreadToolsOptions): readonly ThreadTool[] => {
  checkThreadToolsOptions(options);
  const { agentId, tools, ...origin } = options;
  return tools.map(({ inputSchema, ...tool }) =>
    createHostedTool({
      ...tool,
      ...origin,
      id: `${agentId}/${tool.name}`,
      input: inputSchema,
      prepareId: `${agentId}/${prepareName}`,
    }),
  );
};
