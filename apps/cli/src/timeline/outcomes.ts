import type { EventBody, ItemData } from "@harnesskit/protocol/threads";
import type { TurnResult } from "@harnesskit/thread-client";
import { ExitCode } from "../cli-error.ts";
import { interruptedExitCode } from "../interruption.ts";
import type { Style } from "../terminal/terminal.ts";
import { oneLine } from "../terminal/text.ts";

/** Why a call did not run. */
export type Refusal =
  | "rejected"
  | "unattended"
  | "expired"
  | "blocked"
  | "forbidden"
  | "timedOut"
  | "unavailable";

const words: Readonly<Record<Refusal, string>> = {
  blocked: "blocked by the policy",
  forbidden: "not granted",
  rejected: "refused",
  unattended: "no user to ask",
  expired: "not approved in time",
  timedOut: "not judged in time",
  unavailable: "could not be judged",
};

const byCode: Readonly<Record<string, Refusal>> = {
  "approval.unattended": "unattended",
  "approval.expired": "expired",
  gate_failed: "unavailable",
  "gate.timeout": "timedOut",
  "gate.unavailable": "unavailable",
};

/** Why something did not run, by the status of its item and its code; undefined where it was not refused. */
const refusalOf = (status: string, code = ""): Refusal | undefined => {
  if (status === "failed" && code === "tool.forbidden") return "forbidden";
  if (status !== "rejected" && status !== "blocked") return undefined;
  return byCode[code] ?? status;
};

/** Counts what the agent wanted in a turn and did not get. */
export class RefusedCalls {
  readonly #counts = new Map<Refusal, number>();

  observe(event: EventBody): void {
    if (event.type === "turn.started") this.#counts.clear();
    if (event.type !== "item.completed" || event.data.item.type !== "tool_exec") return;
    const { status, code } = event.data.item.data ?? {};
    const refusal = status && refusalOf(status, code);
    if (refusal) this.#counts.set(refusal, this.count(refusal) + 1);
  }

  count(refusal: Refusal): number {
    return this.#counts.get(refusal) ?? 0;
  }

  get any(): boolean {
    const decided = ["rejected", "unattended", "expired", "blocked", "forbidden"] as const;
    return decided.some((refusal) => this.count(refusal) > 0);
  }

  get unjudged(): boolean {
    return this.count("timedOut") + this.count("unavailable") > 0;
  }

  get text(): string {
    const found = Object.entries(words)
      .map(([refusal, word]) => ({ count: this.count(refusal as Refusal), word }))
      .filter(({ count }) => count > 0);
    const total = found.reduce((sum, { count }) => sum + count, 0);
    if (total === 0) return "";
    const why = found.map(({ count, word }) => (found.length === 1 ? word : `${count} ${word}`)).join(", ");
    return `${total === 1 ? "1 call" : `${total} calls`} did not run: ${why}`;
  }
}

const refusalWords: Readonly<Record<Refusal, string>> = {
  rejected: "refused",
  unattended: "not approved",
  expired: "timed out",
  blocked: "blocked",
  forbidden: "not granted",
  timedOut: "timed out",
  unavailable: "unavailable",
};

/** Why a call of a conversation did not run, by its code; undefined where the tool failed. */
const refusalOfCode = (code: string): Refusal | undefined => {
  if (code === "rejected" || code === "tool.rejected") return "rejected";
  return byCode[code] ?? (code.startsWith("policy.") ? "blocked" : undefined);
};

/** The word and the exit code for a call that did not run; undefined where the tool failed. */
export const refusedCall = (
  code: string,
): { readonly word: string; readonly isBlock: boolean; readonly exitCode: ExitCode } | undefined => {
  const refusal = refusalOfCode(code);
  if (refusal === undefined) return undefined;
  const isUnjudged = refusal === "timedOut" || refusal === "unavailable";
  return {
    word: refusalWords[refusal],
    isBlock: refusal === "blocked",
    exitCode: isUnjudged ? ExitCode.unavailable : ExitCode.refused,
  };
};

/** How a tool call ended, as a sign and what is to be said: safe text. */
export const toolEnding = ({ status, error, code }: ItemData<"tool_exec">, style: Style): string => {
  const why = error === undefined ? "" : oneLine(error, 300);
  const said = (word: string) => (why === "" ? word : `${word}: ${why}`);
  switch (status) {
    case "succeeded":
      return style.green("✓");
    case "failed":
      return `${style.red("✗")} ${said("failed")}`;
    case "rejected":
    case "blocked":
      return `${style.yellow(status === "blocked" ? "⊘" : "✗")} ${said(refusalWords[refusalOf(status, code) ?? status])}`;
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
  model_unauthorized: { word: "refused", exitCode: ExitCode.refused },
  "policy.blocked": { word: "blocked by the policy", exitCode: ExitCode.refused },
  "policy.deferred": { word: "blocked by the policy for now", exitCode: ExitCode.refused },
  "policy.not_asked": { word: "not approved", exitCode: ExitCode.refused },
  "policy.invalid_change": { word: "blocked", exitCode: ExitCode.refused },
  "prompt.blocked": { word: "blocked by the policy", exitCode: ExitCode.refused },
  "prompt.rejected": { word: "refused", exitCode: ExitCode.refused },
  "approval.unattended": { word: "not approved", exitCode: ExitCode.refused },
  "approval.expired": { word: "timed out", exitCode: ExitCode.refused },
  model_unavailable: { word: "unavailable", exitCode: ExitCode.unavailable },
  model_rate_limited: { word: "unavailable", exitCode: ExitCode.unavailable },
  model_quota_exceeded: { word: "refused", exitCode: ExitCode.refused },
  model_not_found: { word: "unavailable", exitCode: ExitCode.unavailable },
  server_closed: { word: "interrupted", exitCode: ExitCode.unavailable },
  gate_failed: { word: "unavailable", exitCode: ExitCode.unavailable },
  "gate.timeout": { word: "timed out", exitCode: ExitCode.unavailable },
  "gate.unavailable": { word: "unavailable", exitCode: ExitCode.unavailable },
  // Of conversations.
  provider_authentication: { word: "refused", exitCode: ExitCode.refused },
  provider_unavailable: { word: "unavailable", exitCode: ExitCode.unavailable },
  provider_timeout: { word: "unavailable", exitCode: ExitCode.unavailable },
  provider_rate_limit: { word: "unavailable", exitCode: ExitCode.unavailable },
  provider_model_not_loaded: { word: "unavailable", exitCode: ExitCode.unavailable },
  provider_invalid_model: { word: "unavailable", exitCode: ExitCode.unavailable },
};

/** The word for a turn that ended with an error. */
export const errorWord = (code: string | undefined): string => endings[code ?? ""]?.word ?? "failed";

/** The exit code of an error of a turn. */
export const errorExitCode = (code: string | undefined): ExitCode =>
  endings[code ?? ""]?.exitCode ?? ExitCode.failed;

/** The exit code of a turn that has ended. */
export const exitCodeOf = (result: TurnResult, refused: RefusedCalls): ExitCode => {
  const interrupted = interruptedExitCode();
  if (interrupted !== undefined) return interrupted;
  if (result.status === "cancelled") return ExitCode.failed;
  if (result.status === "error") return errorExitCode(result.code);
  if (refused.any) return ExitCode.refused;
  return refused.unjudged ? ExitCode.unavailable : ExitCode.done;
};
