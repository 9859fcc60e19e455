import type { AhpEventType } from "@harnesskit/protocol/ahp";
import type { JsonObject, JsonValue } from "@harnesskit/protocol/envelope";
import type { ToolRules } from "./actions.ts";
import type { FailureFacts } from "./protection.ts";
import type { HostSettings } from "./settings/host-settings.ts";

/** How a host applies changed arguments: `command` takes a new `command` and nothing else. */
export type ModificationStyle = "whole" | "command";

/** One event of a host. */
export interface HookEventRule {
  readonly ahp: Extract<
    AhpEventType,
    "pre_action" | "post_action" | "pre_prompt" | "post_response" | "session_start" | "session_end"
  >;
  /** Whether the host stops for a refusal. @default false */
  readonly blocks?: boolean;
  /** Whether the host asks its user where the answer says so. @default false */
  readonly asks?: boolean;
  /** How the host applies changed arguments. @default undefined, it does not */
  readonly modifies?: ModificationStyle;
}

/** A call of a tool, in the host's words. */
export interface HostToolCall {
  readonly name: string;
  readonly input: JsonValue;
  readonly id?: string | undefined;
  /** Server and tool, where the host names them apart. */
  readonly mcp?: { readonly server: string; readonly tool: string } | undefined;
}

/** What a hook's input says, in words that all hosts share. */
export interface HookInput {
  readonly event: string;
  readonly session: string;
  /** The directory in which the agent works now. */
  readonly cwd?: string | undefined;
  /** The root of the agent's work, where the host names it apart. */
  readonly workspace?: string | undefined;
  readonly tool?: HostToolCall | undefined;
  readonly prompt?: string | undefined;
  /** What a tool or a turn put out. */
  readonly result?: JsonValue | undefined;
  readonly failed?: boolean | undefined;
  /** Further fields that go into the event's metadata. */
  readonly details: JsonObject;
}

/** What is answered, before it has a host's form. */
export type Verdict =
  | { readonly kind: "pass" }
  | { readonly kind: "block"; readonly reason: string }
  | { readonly kind: "ask"; readonly reason: string }
  | { readonly kind: "modify"; readonly input: JsonObject };

/** How long a host waits for its hooks. */
export interface HookTiming {
  /** Where the vendor states none, the shortest of the other hosts. */
  readonly defaultMs: number;
  /** The field of a handler that sets the time. */
  readonly field: string;
  readonly unit: "ms" | "s";
}

/** One coding agent: everything that differs between hosts is here, as data and as three pure functions. */
export interface Host {
  readonly id: string;
  readonly name: string;
  /** The version and the source of what is stated about it. */
  readonly checked: string;
  /** The oldest version whose hooks protect as is stated here, and what an older one does. @default undefined, none is known */
  readonly minimum?: { readonly version: string; readonly reason: string } | undefined;
  readonly events: Readonly<Record<string, HookEventRule>>;
  /**
   * The input in shared words. `event` is the name that the caller knows, for hosts whose input has none.
   * Throws a `ZodError` for input that is not the host's.
   */
  readonly read: (input: JsonObject, event: string | undefined) => HookInput;
  readonly tools: ToolRules;
  /** Server and tool in the name of an MCP tool; undefined where the name does not say so without doubt. */
  readonly readMcpName?: (name: string) => { readonly server: string; readonly tool: string } | undefined;
  /** The object for standard output; undefined for empty output. */
  readonly write: (verdict: Verdict, event: string) => JsonObject | undefined;
  readonly timing: HookTiming;
  /** For each way in which a hook can fail: whether the tool runs. */
  readonly failures: FailureFacts;
  readonly settings: HostSettings;
}
