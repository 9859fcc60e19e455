import type { JsonObject, JsonValue } from "@harnesskit/protocol/envelope";

/** What an agent wants to do, as the harness is asked about it. */
export interface ProxiedAction {
  readonly tool: string;
  /** Names the call to the harness, from the question to the outcome. */
  readonly callId: string;
  /** What it does, in the words of policies: `run`, `write`, `mcp`, … */
  readonly kind: string;
  readonly arguments: JsonObject;
  /** Further fields of the event's payload. */
  readonly details?: JsonObject;
  readonly metadata?: JsonObject;
  /** The agent's session. @default that of the connection to the harness */
  readonly session?: string;
}

/** A prompt on its way to an agent. */
export interface ProxiedPrompt {
  readonly callId: string;
  readonly prompt: string;
  readonly details?: JsonObject;
  readonly metadata?: JsonObject;
  readonly session?: string;
}

/** What is not passed on, and why. */
export interface Refusal {
  readonly ruling: "refuse";
  readonly reason: string;
  /** It was not decided in time, and the same call can be repeated. */
  readonly isPending?: true;
}

/** The client's own user decides: only with `asks`. */
export interface LeftToClient {
  readonly ruling: "ask";
  readonly reason: string;
}

/** What becomes of an action. */
export type ActionRuling =
  | { readonly ruling: "forward"; readonly arguments: JsonObject; readonly isModified: boolean }
  | LeftToClient
  | Refusal;

/** What becomes of a prompt. */
export type PromptRuling =
  | { readonly ruling: "forward"; readonly prompt: string; readonly isModified: boolean }
  | Refusal;

/** What came of an action. */
export type ActionOutcome =
  | { readonly outcome: "success"; readonly result: JsonValue }
  | { readonly outcome: "error" | "refused"; readonly error: string; readonly result?: JsonValue }
  /** Whether it was done is not known, or it was given up before it was decided. */
  | { readonly outcome: "unknown" | "cancelled"; readonly error: string };

export interface DecideOptions {
  /** How long it may wait for a decision, in milliseconds. */
  readonly holdMs: number;
  readonly signal: AbortSignal;
  /** Whether the client can ask its own user (`metadata.host_asks`). @default false */
  readonly asks?: boolean;
}
