import type { JsonObject, JsonValue } from "@harnesskit/protocol/envelope";
import type { JsonLine } from "@harnesskit/wire";
import { jsonProblem, quoteRoundedNumbers } from "@harnesskit/wire/json";
import { objectOf, type RpcMessage } from "./rpc-message.ts";

/** The target of an escalation by which a policy lets the agent ask its own user, where it can. */
export const terminalTarget = "terminal";

/** What an agent wants to do, as the harness is asked about it. */
export interface ProxiedAction {
  readonly tool: string;
  /** Names the call to the harness, from the question to the outcome. */
  readonly callId: string;
  /** What it does, in the words of policies: `run`, `write`, `mcp`, … */
  readonly kind: string;
  readonly arguments: JsonObject;
  /** Further fields of the event's payload. */
  readonly details?: JsonObject | undefined;
  readonly metadata?: JsonObject;
  /** The agent's session. @default that of the connection to the harness */
  readonly session?: string;
}

/** A prompt on its way to an agent. */
export interface ProxiedPrompt {
  readonly callId: string;
  readonly prompt: string;
  readonly details?: JsonObject | undefined;
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

/**
 * A result for a report: the beginning of a larger one, the text of one that an event cannot hold (too deep, a number beyond the range of
 * doubles). `maxBytes` counts UTF-16 units.
 */
export const boundedResult = (result: JsonValue, maxBytes: number): JsonValue => {
  const text = JSON.stringify(result);
  if (text.length > maxBytes) return { cut: true, beginning: text.slice(0, maxBytes) };
  return jsonProblem(result) === undefined ? result : { text };
};

/** The outcome of a call that was answered with an error of JSON-RPC. */
export const errorOutcome = (error: JsonValue): ActionOutcome => {
  const { message } = objectOf(error);
  return { outcome: "error", error: typeof message === "string" ? message.slice(0, 2000) : "error" };
};

/** What came of a call of an MCP server, by the line of its answer. A small result is reported with its digits. */
export const callOutcome = ({ text, value }: JsonLine, maxReportBytes: number): ActionOutcome => {
  const isSmall = text.length <= maxReportBytes;
  const { error, result } = (isSmall ? JSON.parse(quoteRoundedNumbers(text)) : value) as RpcMessage;
  if (error !== undefined) return errorOutcome(error);
  const shown = boundedResult(result ?? null, maxReportBytes);
  return objectOf(result).isError === true
    ? { outcome: "error", error: "the tool reports an error", result: shown }
    : { outcome: "success", result: shown };
};

export interface DecideOptions {
  /** How long it may wait for a decision, in milliseconds. */
  readonly holdMs: number;
  readonly signal: AbortSignal;
  /** Whether the client can ask its own user (`metadata.host_asks`). @default false */
  readonly asks?: boolean | undefined;
}
