import type { AhpEventType } from "@harnesskit/protocol/ahp";
import type { JsonObject, JsonValue } from "@harnesskit/protocol/envelope";
import type { ToolTables } from "./actions.ts";
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
  /**
   * The host is about to ask its user about a call that it has shown to its hooks before: an explicit allow answers in the user's
   * place, and anything else leaves the question to the user. @default false
   */
  readonly asksUser?: boolean;
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
  /** What went wrong. */
  readonly error?: JsonValue | undefined;
  /** How a command has ended, where the host shows it. */
  readonly exitCode?: number | undefined;
  /** The host's user, or the host itself, did not let the call run. */
  readonly refused?: boolean | undefined;
  /** The subagent that makes the call; undefined for the session's main agent. */
  readonly subagent?: { readonly id: string; readonly type?: string | undefined } | undefined;
  /** Further fields that go into the event's metadata. */
  readonly details: JsonObject;
}

/** What is answered, before it has a host's form. */
export type Verdict =
  /** The host's own rules and its user decide. */
  | { readonly kind: "pass" }
  /** It runs, and the host does not ask its user. */
  | { readonly kind: "allow"; readonly reason: string }
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
export interface Host extends ToolTables {
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
  /**
   * The id of the host that runs the hooks in this host's settings, by an input of its own; undefined for input of this host.
   * @default undefined, no other host runs them
   */
  readonly runBy?: (input: JsonObject) => string | undefined;
  /** The object for standard output; undefined for empty output. */
  readonly write: (verdict: Verdict, event: string) => JsonObject | undefined;
  readonly timing: HookTiming;
  /** What the agent does that its hooks do not show, each in a sentence. */
  readonly gaps: readonly string[];
  /** How a hook without a decision refuses so that the model gets the reason: `exit`, with exit code 2 and standard error. */
  readonly refusesBy: "exit" | "answer";
  /** For each way in which a hook can fail: whether the tool runs. */
  readonly failures: FailureFacts;
  readonly settings: HostSettings;
}
