import { type Decision, DecisionSchema } from "@harnesskit/protocol/ahp";
import type { JsonValue } from "@harnesskit/protocol/envelope";
import { copyJson } from "@harnesskit/wire/json";
import type { Host, Verdict } from "./host.ts";
import { hookLimits } from "./limits.ts";
import { toHostInput } from "./modify.ts";
import type { HookCall } from "./read-hook.ts";
import { safeReason } from "./reason.ts";

/**
 * - `none`: the host goes on, and its own rules hold;
 * - `block`, `ask`, `modify`: what the host does now;
 * - `not_applied`: the decision is not to go on, and the host goes on all the same for this event.
 */
export type HookEffect = "none" | "block" | "ask" | "modify" | "not_applied";

/** What the hook's process does: write both texts, then exit with the code. */
export interface HookAnswer {
  readonly exitCode: 0 | 2;
  readonly stdout: string;
  readonly stderr: string;
  readonly effect: HookEffect;
  /** Why, for every effect but `none` and `modify`; safe to show. */
  readonly reason?: string | undefined;
}

export interface AnswerHookOptions {
  /** What `escalate` becomes where the host can ask its user: its question, or a refusal. @default "block" */
  readonly escalate?: "ask" | "block" | undefined;
  /** Added to the refusal of `escalate` and `defer`, such as "approval T-7 is pending at URL; repeat the same call". @default undefined */
  readonly ticket?: string | undefined;
}

const seconds = (ms: number): string => `${Math.max(1, Math.ceil(ms / 1000))} s`;

const modifyVerdict = (call: HookCall, modified: unknown): Verdict => {
  let copy: JsonValue;
  try {
    copy = copyJson(modified, { maxDepth: call.limits.maxInputDepth, maxBytes: call.limits.maxInputBytes });
  } catch {
    return {
      kind: "block",
      reason: "the guard changed the call, and the change is not JSON within the limits",
    };
  }
  const result = toHostInput(call, copy);
  return "input" in result
    ? { kind: "modify", input: result.input }
    : { kind: "block", reason: `the guard changed the call, and that cannot be applied: ${result.refused}` };
};

const verdictOf = (call: HookCall, decision: Decision, options: AnswerHookOptions): Verdict => {
  const { escalate = "block", ticket } = options;
  const note = ticket === undefined ? "" : `. ${ticket}`;
  switch (decision.decision) {
    case "allow":
      return decision.modified_payload === undefined
        ? { kind: "pass" }
        : modifyVerdict(call, decision.modified_payload);
    case "modify":
      return modifyVerdict(call, decision.modified_payload);
    case "block":
      return { kind: "block", reason: decision.reason };
    case "defer": {
      const why = decision.reason ? `: ${decision.reason}` : "";
      return {
        kind: "block",
        reason: `not now, retry after ${seconds(decision.retry_after_ms)}${why}${note}`,
      };
    }
    case "escalate": {
      const asks = escalate === "ask" && call.rule?.asks === true;
      const reason = decision.reason || "the policy asks a human";
      return asks
        ? { kind: "ask", reason }
        : { kind: "block", reason: `this needs an approval: ${reason}${note}` };
    }
  }
};

const effects = { pass: "none", block: "block", ask: "ask", modify: "modify" } as const;

const toAnswer = (call: HookCall, verdict: Verdict): HookAnswer => {
  const hasReason = verdict.kind === "block" || verdict.kind === "ask";
  const reason = hasReason ? safeReason(verdict.reason, call.limits.maxReasonLength) : undefined;
  const isApplied = verdict.kind === "pass" || call.rule?.blocks === true;
  const applied: Verdict = !isApplied
    ? { kind: "pass" }
    : hasReason
      ? { kind: verdict.kind, reason: reason as string }
      : verdict;
  const output = call.host.write(applied, call.hookEvent);
  return {
    exitCode: 0,
    stdout: output === undefined ? "" : JSON.stringify(output),
    stderr: "",
    effect: isApplied ? effects[verdict.kind] : "not_applied",
    reason,
  };
};

/**
 * The answer of a hook for a harness's decision. Takes any value: what is not a decision of AHP blocks. An event that asks nothing
 * (`post_action`, `session_start`, …) or is passed over gets the host's neutral answer, whatever the decision; it may be
 * undefined then. Never throws.
 */
export const answerHook = (
  call: HookCall,
  decision?: unknown,
  options: AnswerHookOptions = {},
): HookAnswer => {
  const isGate = call.rule?.ahp === "pre_action" || call.rule?.ahp === "pre_prompt";
  if (!isGate) return toAnswer(call, { kind: "pass" });
  const parsed = DecisionSchema.safeParse(decision);
  return toAnswer(
    call,
    parsed.success
      ? verdictOf(call, parsed.data, options)
      : { kind: "block", reason: "the guard's decision is not valid" },
  );
};

/**
 * The answer for a hook whose input cannot be read, or whose guard is missing, full, slow or garbled: exit code 2 with the reason on
 * standard error. Every host refuses the call for it, and for the events that `planSettings` registers it does no
 * harm where nothing can be refused. Never throws.
 */
export const failClosed = (host: Host, reason: string): HookAnswer => {
  const text = safeReason(`${host.name} hook: ${reason.trim()}`, hookLimits.defaults.maxReasonLength);
  return { exitCode: 2, stdout: "", stderr: `${text}\n`, effect: "block", reason: text };
};
