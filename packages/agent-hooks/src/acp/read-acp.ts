import type { AhpEvent } from "@harnesskit/protocol/ahp";
import type { JsonObject, JsonValue } from "@harnesskit/protocol/envelope";
import { JsonObjectSchema, JsonValueSchema } from "@harnesskit/protocol/envelope";
import { HarnessError, systemClock } from "@harnesskit/wire";
import { defined } from "@harnesskit/wire/json";
import * as z from "zod";
import { type Action, readMcpName, toAction } from "../actions.ts";
import { HookError } from "../hook-error.ts";
import type { HostToolCall } from "../host.ts";
import { commandLine } from "./command-line.ts";
import { type AcpPrompt, readPrompt } from "./prompt.ts";
import { loosens } from "./session-settings.ts";
import { type AcpToolCall, acpTools, toHostCall } from "./tool-call.ts";

const text = z.string().min(1);
const ToolCallSchema = z.looseObject({ toolCallId: text });

const schemas = {
  "session/request_permission": z.object({
    sessionId: text,
    toolCall: ToolCallSchema,
    options: z.array(z.looseObject({ optionId: text, name: z.string(), kind: z.string() })).max(100),
    _meta: JsonValueSchema.optional(),
  }),
  "fs/write_text_file": z.object({
    sessionId: text,
    path: text,
    content: z.string(),
    _meta: JsonValueSchema.optional(),
  }),
  "terminal/create": z.object({
    sessionId: text,
    command: text,
    args: z.array(z.string()).nullish(),
    env: z.array(z.object({ name: z.string(), value: z.string() })).nullish(),
    cwd: text.nullish(),
    outputByteLimit: z.number().nullish(),
    _meta: JsonValueSchema.optional(),
  }),
  "session/prompt": z.object({
    sessionId: text,
    prompt: z.array(JsonObjectSchema).max(1000),
    _meta: JsonValueSchema.optional(),
  }),
  "session/set_mode": z.object({ sessionId: text, modeId: text, _meta: JsonValueSchema.optional() }),
  "session/set_config_option": z.object({
    sessionId: text,
    configId: text,
    type: z.string().optional(),
    value: JsonValueSchema,
    _meta: JsonValueSchema.optional(),
  }),
} as const satisfies Readonly<Record<AcpMethod, z.ZodType>>;

/** The requests of an agent that ask for an action. */
export type AcpAgentMethod = "session/request_permission" | "fs/write_text_file" | "terminal/create";

/** The requests of an editor that change how a session of an agent works. */
export type AcpSettingMethod = "session/set_mode" | "session/set_config_option";

/** The requests of ACP version 1 that are judged. */
export type AcpMethod = AcpAgentMethod | AcpSettingMethod | "session/prompt";

export const isAcpSettingMethod = (method: unknown): method is AcpSettingMethod =>
  method === "session/set_mode" || method === "session/set_config_option";

export const isAcpMethod = (method: unknown): method is AcpMethod =>
  typeof method === "string" && Object.hasOwn(schemas, method);

export interface ReadAcpOptions {
  /** The session's directory, an absolute path. Without it a call with a relative path is `other`. @default undefined */
  readonly workspace?: string | undefined;
  /** The name in the agent's `agentInfo`. @default undefined */
  readonly agent?: string | undefined;
  /** What the session's option with an id is for, as the agent says. @default undefined, not known */
  readonly categoryOf?: ((option: string) => string | undefined) | undefined;
  /** SHA-256 of a string, as UTF-8. It stands in a prompt's attachments for what is not shown of them. */
  readonly digest: (text: string) => string;
}

/** A request of ACP, read. */
export interface AcpCall {
  readonly method: AcpMethod;
  readonly sessionId: string;
  /** The parameters that the protocol names for the method, and no others: what may be passed on. */
  readonly params: JsonObject;
  /** Undefined for a prompt. */
  readonly action: Action | undefined;
  /** Undefined for an action. */
  readonly prompt: AcpPrompt | undefined;
  /** The id of the tool call that a permission is asked for. */
  readonly toolCallId: string | undefined;
  /** For the event's metadata. */
  readonly metadata: JsonObject;
}

/** What agents say of a call, in the words of ACP. */
const described = { id: "acp", tools: acpTools, bookkeeping: [], readMcpName };
/** Requests whose methods say what they do. */
const requested = { id: "acp", tools: acpTools, bookkeeping: [] };

const acpPlace = ({ workspace }: Pick<ReadAcpOptions, "workspace">) => ({
  cwd: workspace,
  workspace,
});

const terminalCall = (params: z.infer<(typeof schemas)["terminal/create"]>): HostToolCall => {
  const { command, args, env, cwd } = params;
  const line = commandLine(command, args, env);
  const where = typeof cwd === "string" ? { cwd } : {};
  if (line !== undefined) return { name: "terminal/create", input: { command: line, ...where } };
  const given = { program: command, args: [...(args ?? [])], env: [...(env ?? [])] };
  return { name: "terminal/create", input: { ...given, ...where } };
};

/** The call of the tools `acp:set_mode` and `acp:set_config_option`. */
const settingAction = (method: AcpSettingMethod, params: JsonObject): Action =>
  method === "session/set_mode"
    ? { tool: "acp:set_mode", kind: "other", arguments: { mode: params.modeId as string } }
    : {
        tool: "acp:set_config_option",
        kind: "other",
        arguments: { option: params.configId as string, value: params.value as JsonValue },
      };

/** Whether the agent may ask less after it, for the metadata; nothing where that is not known. */
const loosening = (
  method: AcpSettingMethod,
  { modeId, configId, value }: JsonObject,
  { agent, categoryOf }: ReadAcpOptions,
): JsonObject => {
  const id = method === "session/set_mode" ? "mode" : (configId as string);
  const category = method === "session/set_mode" ? "mode" : categoryOf?.(id);
  const isLooser = loosens(agent, { id, category }, modeId ?? value ?? null);
  return isLooser === undefined ? {} : { loosens: isLooser };
};

/** The action of a tool call that an agent describes. */
export const acpAction = (call: AcpToolCall, options: Omit<ReadAcpOptions, "digest">): Action =>
  toAction(toHostCall(call, options.agent, options.workspace), described, acpPlace(options));

const parseParams = <M extends AcpMethod>(
  method: M,
  params: JsonValue | undefined,
): z.infer<(typeof schemas)[M]> => {
  const parsed = schemas[method].safeParse(params);
  if (parsed.success) return parsed.data as z.infer<(typeof schemas)[M]>;
  const [issue] = parsed.error.issues;
  const message = `${method}: ${issue?.path.join(".") || "params"}: ${issue?.message ?? "not valid"}`;
  throw new HookError("hook_invalid", message, { cause: parsed.error });
};

const promptOf = (blocks: readonly JsonObject[], { digest }: ReadAcpOptions): AcpPrompt => {
  try {
    return readPrompt(blocks, digest);
  } catch (cause) {
    if (!HarnessError.isInstance(cause)) throw cause;
    throw new HookError("hook_invalid", `session/prompt: prompt: ${cause.message}`, { cause });
  }
};

/**
 * Reads a request of ACP version 1 (schema 1.7.0) that a policy decides about. Throws {@link HookError} (`hook_invalid`) for parameters
 * that are not those of the method.
 */
export const readAcp = (
  method: AcpMethod,
  params: JsonValue | undefined,
  options: ReadAcpOptions,
): AcpCall => {
  const { workspace, agent } = options;
  const read = parseParams(method, params) as JsonObject & { readonly sessionId: string };
  const metadata = defined({ host: "acp", acp_method: method, acp_agent: agent, workspace });
  const base = { method, sessionId: read.sessionId, params: read, toolCallId: undefined, metadata };
  switch (method) {
    case "session/prompt":
      return { ...base, action: undefined, prompt: promptOf(read.prompt as JsonObject[], options) };
    case "session/request_permission": {
      const call = read.toolCall as unknown as AcpToolCall;
      const { toolCallId, title } = call;
      const shown = typeof title === "string" ? { ...metadata, title: title.slice(0, 1000) } : metadata;
      return { ...base, action: acpAction(call, options), prompt: undefined, toolCallId, metadata: shown };
    }
    case "session/set_mode":
    case "session/set_config_option":
      return {
        ...base,
        action: settingAction(method, read),
        prompt: undefined,
        metadata: { ...metadata, ...loosening(method, read, options) },
      };
    default: {
      const call =
        method === "terminal/create"
          ? terminalCall(read as never)
          : { name: method, input: { path: read.path as string, content: read.content as string } };
      const action = toAction(call, requested, acpPlace(options));
      return { ...base, action, prompt: undefined };
    }
  }
};

/** The event of a request, for a policy. */
export const acpEvent = (call: AcpCall, now: number = systemClock.now()): AhpEvent => {
  const { action, prompt, toolCallId, sessionId, metadata } = call;
  const payload: JsonObject = action
    ? defined({
        action_type: "tool_call",
        tool_name: action.tool,
        tool_call_id: toolCallId,
        action: action.kind,
        server: action.server,
        arguments: action.arguments,
      })
    : { prompt: prompt?.prompt ?? "", attachments: [...(prompt?.attachments ?? [])] };
  return {
    event_type: action ? "pre_action" : "pre_prompt",
    session_id: sessionId,
    agent_id: "acp",
    timestamp: new Date(now).toISOString(),
    depth: 0,
    payload,
    metadata,
  };
};
