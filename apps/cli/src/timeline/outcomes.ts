import type { CallFailure } from "@harnesskit/chat-harness";
import type { EventBody, EventOf, ItemData, Turn } from "@harnesskit/protocol/threads";
import type { TurnResult } from "@harnesskit/thread-client";
import { ExitCode } from "../cli-error.ts";
import { interruptedExitCode } from "../interruption.ts";
import type { Style } from "../terminal/terminal.ts";
import { formatDuration, oneLine } from "../terminal/text.ts";

/** Why a call did not run, or did not surely run. */
export type Refusal =
  | "rejected"
  | "unattended"
  | "expired"
  | "blocked"
  | "forbidden"
  | "timedOut"
  | "unavailable"
  | "noTool"
  | "unknown";

interface RefusalWords {
  /** Of one call. */
  readonly word: string;
  /** Of all calls of a turn. */
  readonly total: string;
  readonly exitCode: ExitCode;
}

const { refused, unavailable } = ExitCode;

/** The one table of what did not run, for every command that shows an agent. */
const refusals: Readonly<Record<Refusal, RefusalWords>> = {
  blocked: { word: "blocked", total: "blocked by the policy", exitCode: refused },
  forbidden: { word: "not granted", total: "not granted", exitCode: refused },
  rejected: { word: "refused", total: "refused", exitCode: refused },
  unattended: { word: "not approved", total: "no user to ask", exitCode: refused },
  expired: { word: "timed out", total: "not approved in time", exitCode: refused },
  timedOut: { word: "timed out", total: "not judged in time", exitCode: unavailable },
  unavailable: { word: "unavailable", total: "could not be judged", exitCode: unavailable },
  noTool: { word: "unavailable", total: "the process of the tool is not there", exitCode: unavailable },
  unknown: { word: "unknown", total: "may have run", exitCode: unavailable },
};

const byCode: Readonly<Record<string, Refusal>> = {
  "approval.unattended": "unattended",
  "approval.expired": "expired",
  gate_failed: "unavailable",
  "gate.timeout": "timedOut",
  "gate.unavailable": "unavailable",
};

/** How a call ended: the status of a thread's item, or that of a failure in a conversation, and its code. */
export interface CallEnd {
  readonly status: ItemData<"tool_exec">["status"] | CallFailure["status"];
  readonly code?: string | undefined;
  /** Untrusted text. */
  readonly message?: string | undefined;
}

/** How a call of a conversation ended that has no result: a gate's refusal has the code of the gate. */
export const conversationEnd = ({ status, code, message }: CallFailure): CallEnd => {
  if (code === "agent.lost" || code === "core.closed") return { status: "unknown", code, message };
  if (code === "tool_cancelled") return { status: "cancelled", code, message };
  if (code.startsWith("policy.")) return { status: "blocked", code, message };
  const isRefused = code === "rejected" || code === "tool.rejected" || byCode[code] !== undefined;
  return { status: isRefused ? "rejected" : status, code, message };
};

/** Why a call did not surely run; undefined where it ran. */
const refusalOf = ({ status, code = "" }: CallEnd): Refusal | undefined => {
  if (status === "unknown") return "unknown";
  if (status === "failed" && code === "tool.forbidden") return "forbidden";
  if (status === "failed" && code === "agent.unavailable") return "noTool";
  if (status !== "rejected" && status !== "blocked") return undefined;
  return byCode[code] ?? status;
};

const callCount = (count: number): string => (count === 1 ? "1 call" : `${count} calls`);

/** Counts what the agent wanted and did not surely get. */
export class RefusedCalls {
  readonly #counts = new Map<Refusal, number>();

  /** Takes an event of a thread; each turn is counted anew. */
  observe(event: EventBody): void {
    if (event.type === "turn.started") this.clear();
    if (event.type !== "item.completed" || event.data.item.type !== "tool_exec") return;
    const { data } = event.data.item;
    if (data) this.add(data);
  }

  add(end: CallEnd): void {
    const refusal = refusalOf(end);
    if (refusal) this.#counts.set(refusal, this.count(refusal) + 1);
  }

  clear(): void {
    this.#counts.clear();
  }

  count(refusal: Refusal): number {
    return this.#counts.get(refusal) ?? 0;
  }

  /** All calls that did not run, or whose end is not known. */
  get total(): number {
    return [...this.#counts.values()].reduce((sum, count) => sum + count, 0);
  }

  /** Undefined where every call ran. A refusal comes before what could not be judged. */
  get exitCode(): ExitCode | undefined {
    const codes = [...this.#counts.keys()].map((refusal) => refusals[refusal].exitCode);
    return codes.includes(refused) ? refused : codes[0];
  }

  get text(): string {
    const unknown = this.count("unknown");
    const found = Object.entries(refusals)
      .map(([refusal, { total }]) => ({ refusal, count: this.count(refusal as Refusal), total }))
      .filter(({ refusal, count }) => count > 0 && refusal !== "unknown");
    const total = found.reduce((sum, { count }) => sum + count, 0);
    const why = found.map(({ count, total: word }) => (found.length === 1 ? word : `${count} ${word}`));
    return [
      ...(total === 0 ? [] : [`${callCount(total)} did not run: ${why.join(", ")}`]),
      ...(unknown === 0 ? [] : [`${callCount(unknown)} may have run: its end is not known`]),
    ].join("; ");
  }

  /** The line that stands over a turn that ended; undefined where every call ran. */
  line(style: Style): string | undefined {
    return this.text === "" ? undefined : style.yellow(`⊘ ended: ${this.text}`);
  }
}

/** How a tool call ended, as a sign and what is to be said: safe text. */
export const callEnding = (end: CallEnd, style: Style): string => {
  const { status, message } = end;
  const why = message === undefined ? "" : oneLine(message, 300);
  const said = (word: string) => (why === "" ? word : `${word}: ${why}`);
  switch (status) {
    case "succeeded":
      return style.green("✓");
    case "failed":
      return `${style.red("✗")} ${said("failed")}`;
    case "rejected":
    case "blocked":
      return `${style.yellow(status === "blocked" ? "⊘" : "✗")} ${said(refusals[refusalOf(end) ?? status].word)}`;
    case "not_run":
      return `${style.yellow("✗")} ${said("not run")}`;
    case "cancelled":
      return `${style.yellow("○")} ${said("cancelled")}`;
    case "unknown":
      return `${style.yellow("?")} ${said("unknown")}`;
    case "pending":
    case "running":
      return style.dim(status);
  }
};

const endings: Readonly<Record<string, { readonly word: string; readonly exitCode: ExitCode }>> = {
  model_unauthorized: { word: "refused", exitCode: refused },
  "policy.blocked": { word: "blocked by the policy", exitCode: refused },
  "policy.deferred": { word: "blocked by the policy for now", exitCode: refused },
  "policy.not_asked": { word: "not approved", exitCode: refused },
  "policy.invalid_change": { word: "blocked", exitCode: refused },
  "prompt.blocked": { word: "blocked by the policy", exitCode: refused },
  "prompt.rejected": { word: "refused", exitCode: refused },
  "approval.unattended": { word: "not approved", exitCode: refused },
  "approval.expired": { word: "timed out", exitCode: refused },
  model_unavailable: { word: "unavailable", exitCode: unavailable },
  model_rate_limited: { word: "unavailable", exitCode: unavailable },
  model_quota_exceeded: { word: "refused", exitCode: refused },
  model_not_found: { word: "unavailable", exitCode: unavailable },
  server_closed: { word: "interrupted", exitCode: unavailable },
  gate_failed: { word: "unavailable", exitCode: unavailable },
  "gate.timeout": { word: "timed out", exitCode: unavailable },
  "gate.unavailable": { word: "unavailable", exitCode: unavailable },
  // Of engines.
  unauthorized: { word: "refused", exitCode: refused },
  forbidden: { word: "refused", exitCode: refused },
  engine_unreachable: { word: "unavailable", exitCode: unavailable },
  response_timeout: { word: "timed out", exitCode: unavailable },
  engine_refused: { word: "unavailable", exitCode: unavailable },
  engine_overloaded: { word: "unavailable", exitCode: unavailable },
  // Of conversations.
  provider_authentication: { word: "refused", exitCode: refused },
  provider_unavailable: { word: "unavailable", exitCode: unavailable },
  provider_timeout: { word: "unavailable", exitCode: unavailable },
  provider_rate_limit: { word: "unavailable", exitCode: unavailable },
  provider_model_not_loaded: { word: "unavailable", exitCode: unavailable },
  provider_invalid_model: { word: "unavailable", exitCode: unavailable },
};

/** The word for a turn that ended with an error. */
export const errorWord = (code: string | undefined): string => endings[code ?? ""]?.word ?? "failed";

/** Why a turn ended with an error, in words, with its code. */
export const errorText = ({ code, error }: EventOf<"turn.error">["data"], style: Style): string => {
  const which = code === "" ? "" : style.dim(` (${oneLine(code, 80)})`);
  return `${errorWord(code)}: ${oneLine(error, 1_000)}${which}`;
};

/** The exit code of an error of a turn. */
export const errorExitCode = (code: string | undefined): ExitCode =>
  endings[code ?? ""]?.exitCode ?? ExitCode.failed;

/** The exit code of a turn that has ended. */
export const exitCodeOf = (result: TurnResult, calls: RefusedCalls): ExitCode => {
  const interrupted = interruptedExitCode();
  if (interrupted !== undefined) return interrupted;
  if (result.status === "cancelled") return ExitCode.failed;
  if (result.status === "error") return errorExitCode(result.code);
  return calls.exitCode ?? ExitCode.done;
};

/** A turn that has ended, as its last line says it. */
export interface EndedTurn {
  readonly turn: Pick<Turn, "status" | "time" | "usage">;
  /** Why it failed: safe text. @default "failed" */
  readonly error?: string | undefined;
  readonly refused: RefusedCalls;
  /** Say how long it took, and that all is done; false: only what did not run. */
  readonly showDone: boolean;
}

/** The line that stands over a turn that ended; undefined where there is nothing to say. */
export const turnFooter = (
  { turn: { status, time, usage = {} }, error = "failed", refused, showDone }: EndedTurn,
  style: Style,
): string | undefined => {
  const completed = refused.line(style) ?? (showDone ? style.green("✓ done") : undefined);
  const failed = status === "cancelled" ? style.yellow("○ cancelled") : `${style.red("✗")} ${error}`;
  const head = status === "completed" ? completed : failed;
  if (head === undefined || !showDone) return head;
  const { inputTokens, outputTokens } = usage;
  const facts = [
    time.completed === undefined ? "" : formatDuration(Math.max(0, time.completed - time.started)),
    inputTokens === undefined ? "" : `${inputTokens} tokens in`,
    outputTokens === undefined ? "" : `${outputTokens} tokens out`,
  ].filter((fact) => fact !== "");
  return `${head}${facts.length === 0 ? "" : style.dim(` · ${facts.join(" · ")}`)}`;
};

/** Why a turn goes on with a step that it has begun before. */
export const resumedText = {
  interrupted: "the server ended here; the turn goes on from its last step",
  model_stream: "the model's answer broke off; it is asked again",
};
