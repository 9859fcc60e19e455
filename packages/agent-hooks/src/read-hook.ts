import type { AhpEvent } from "@harnesskit/protocol/ahp";
import type { JsonObject, JsonValue } from "@harnesskit/protocol/envelope";
import { HarnessError, systemClock } from "@harnesskit/wire";
import { copyJson, defined, isObject, utf8Length } from "@harnesskit/wire/json";
import * as z from "zod";
import { type Action, toAction } from "./actions.ts";
import { HookError } from "./hook-error.ts";
import type { HookEventRule, HookInput, Host } from "./host.ts";
import { findHost } from "./hosts.ts";
import { type HookLimits, hookLimits } from "./limits.ts";

export interface ReadHookOptions {
  /** The host's name of the event, for hosts whose input does not have it. @default undefined */
  readonly event?: string | undefined;
  /**
   * Absolute path of the directory by which policies judge paths, or a function of the session's id that returns it. It must not be
   * what the hook reports as `cwd`: an agent chooses that for each call. Without it the event has no workspace, and calls with
   * relative paths are `other`.
   *
   * @default the root that the host states apart, if any
   */
  readonly workspace?: string | ((session: string) => string | undefined) | undefined;
  /** The agent's id in events. @default the id of the host */
  readonly agentId?: string | undefined;
  /** @default the system's clock */
  readonly clock?: { now(): number } | undefined;
  /** Limits to override. @default each as `HookLimits` states */
  readonly limits?: Partial<HookLimits> | undefined;
}

/** A call of a hook, read. */
export interface HookCall {
  /** The host that runs the hook. */
  readonly host: Host;
  /** The host in whose settings the hook is: another one where `host` runs that one's hooks, too. */
  readonly settingsHost: Host;
  readonly session: string;
  /** The host's name of the event. */
  readonly hookEvent: string;
  /** What to do about the event; undefined for an event that is passed over. */
  readonly rule: HookEventRule | undefined;
  /** The event for a harness; undefined for an event that is passed over. `asksUser` of the rule: it is not to be sent. */
  readonly event: AhpEvent | undefined;
  /** What the tool would do; undefined for an event without a tool. */
  readonly action: Action | undefined;
  /** The host's name of the tool. */
  readonly hostTool: string | undefined;
  /** The tool's input as the host sent it. */
  readonly toolInput: JsonValue | undefined;
  readonly limits: HookLimits;
}

const jsonErrors = {
  too_large: "hook_too_large",
  too_deep: "hook_too_deep",
  not_json: "hook_not_json",
} as const;

const parseHook = (host: Host, text: string, limits: HookLimits): JsonObject => {
  if (text.length > limits.maxInputBytes || utf8Length(text) > limits.maxInputBytes) {
    const message = `${host.name}: a hook's input exceeds ${limits.maxInputBytes} bytes`;
    throw new HookError("hook_too_large", message);
  }
  let value: unknown;
  try {
    // Some shells of Windows begin what they write with a byte order mark.
    value = copyJson(JSON.parse(text.replace(/^\ufeff/, "")), { maxDepth: limits.maxInputDepth });
  } catch (cause) {
    const code = HarnessError.isInstance(cause) && jsonErrors[cause.code as keyof typeof jsonErrors];
    const message = `${host.name}: a hook's input is not readable JSON`;
    throw new HookError(code || "hook_not_json", message, { cause });
  }
  if (isObject(value)) return value as JsonObject;
  throw new HookError("hook_invalid", `${host.name}: a hook's input must be an object`);
};

const readInput = (host: Host, value: JsonObject, event: string | undefined): HookInput => {
  try {
    return host.read(value, event);
  } catch (cause) {
    if (!(cause instanceof z.core.$ZodError)) throw cause;
    const issue = cause.issues[0];
    const place = issue?.path.join(".") || "the input";
    throw new HookError("hook_invalid", `${host.name}: ${place}: ${issue?.message ?? "not valid"}`, {
      cause,
    });
  }
};

/** UTF-16 units of an error in an event. */
const maxErrorLength = 4000;

/** A result within the limit, or what is known of a larger one. */
const resultFields = (result: JsonValue, limits: HookLimits): JsonObject => {
  const bytes = utf8Length(JSON.stringify(result));
  return bytes <= limits.maxResultBytes ? { result } : { result_omitted_bytes: bytes };
};

/** An error in words: its message, where it is an object that has one. */
const errorText = (error: JsonValue): string => {
  const said = isObject(error) && typeof error.message === "string" ? error.message : error;
  return (typeof said === "string" ? said : JSON.stringify(said)).slice(0, maxErrorLength);
};

const eventPayload = (input: HookInput, action: Action | undefined, limits: HookLimits): JsonObject => {
  const { tool, prompt, result, failed, error, exitCode, refused } = input;
  const call =
    tool && action
      ? {
          action_type: "tool_call",
          tool_name: action.tool,
          tool_call_id: tool.id,
          action: action.kind,
          server: action.server,
          arguments: action.arguments,
        }
      : {};
  const output = result === undefined ? {} : resultFields(result, limits);
  const isFailed = failed ?? (error !== undefined ? true : undefined);
  const ended = {
    failed: isFailed,
    error: error === undefined ? undefined : errorText(error),
    exit_code: exitCode,
    outcome: refused ? "refused" : undefined,
  };
  return defined({ ...call, prompt, ...output, ...ended });
};

const needs = (host: Host, { event, tool, prompt }: HookInput, rule: HookEventRule): void => {
  const isAction = rule.ahp === "pre_action" || rule.ahp === "post_action";
  const missing =
    isAction && !tool ? "a tool" : rule.ahp === "pre_prompt" && prompt === undefined ? "a prompt" : "";
  if (missing) throw new HookError("hook_invalid", `${host.name}: ${event} without ${missing}`);
};

/**
 * Reads what a host wrote to a hook's standard input. Unknown fields are ignored; an event that has no counterpart gives a call
 * without `event`, which `answerHook` answers neutrally. Throws {@link HookError} (`hook_not_json`, `hook_too_large`,
 * `hook_too_deep`, `hook_invalid`) for what cannot be read: answer that with `failClosed`. Throws `invalid_argument` for a limit
 * out of range.
 */
export const readHook = (settingsHost: Host, text: string, options: ReadHookOptions = {}): HookCall => {
  const limits = hookLimits.resolve(options.limits);
  const value = parseHook(settingsHost, text, limits);
  const runner = settingsHost.runBy?.(value);
  const host = runner === undefined ? settingsHost : findHost(runner);
  const input = readInput(host, value, options.event);
  const rule = Object.hasOwn(host.events, input.event) ? host.events[input.event] : undefined;
  const base = {
    host,
    settingsHost,
    session: input.session,
    hookEvent: input.event,
    rule,
    hostTool: input.tool?.name,
    toolInput: input.tool?.input,
    limits,
  };
  if (!rule) return { ...base, event: undefined, action: undefined };
  needs(host, input, rule);
  const { workspace: given } = options;
  const workspace = (typeof given === "function" ? given(input.session) : given) ?? input.workspace;
  const place = { cwd: input.cwd, workspace };
  const action = input.tool && toAction(input.tool, host, place);
  const { subagent } = input;
  const agentId = options.agentId ?? host.id;
  const event: AhpEvent = {
    event_type: rule.ahp,
    session_id: input.session,
    agent_id: agentId,
    timestamp: new Date((options.clock ?? systemClock).now()).toISOString(),
    depth: subagent === undefined ? 0 : 1,
    payload: eventPayload(input, action, limits),
    metadata: defined({
      ...input.details,
      host: host.id,
      hook_event: input.event,
      host_tool: input.tool?.name,
      unknown_tool: action?.isUnknown,
      subagent: subagent && [subagent.type, subagent.id].filter(Boolean).join(" "),
      parent_agent_id: subagent && agentId,
      workspace,
    }),
  };
  return { ...base, event, action };
};
