import type { JsonObject } from "@harnesskit/protocol/envelope";
import { defined } from "@harnesskit/wire/json";
import { clip } from "./clip.ts";
import { confirm } from "./confirm.ts";
import { judge } from "./judge.ts";
import { judgedCopy } from "./judged-copy.ts";
import type { Supervision } from "./supervision.ts";
import { SupervisionError } from "./supervision-error.ts";
import {
  type Arguments,
  type SupervisedCall,
  toArguments,
  toArgumentsMessage,
  toJudgedCall,
} from "./tool-arguments.ts";

/** A call that may run. */
export interface AllowedCall {
  /** What was judged. */
  readonly input: unknown;
  /** Report how it went. Only the first of these reports counts. */
  succeeded(result: unknown): void;
  failed(error: unknown): void;
  cancelled(): void;
}

const toResultFields = (result: unknown, maxBytes: number): JsonObject => {
  try {
    const text = typeof result === "string" ? result : JSON.stringify(result);
    return text === undefined ? {} : { result: clip(text, maxBytes) };
  } catch {
    // What has no JSON is not reported.
    return {};
  }
};

/** Asks whether a call may run, and begins to measure it. Rejects with a {@link SupervisionError}. */
export const allowCall = async (supervision: Supervision, call: SupervisedCall): Promise<AllowedCall> => {
  const { toolName, toolCallId, signal } = call;
  const { input, wasModified } = await allowedInput(supervision, call);
  const report = supervision.startReport(
    "post_action",
    defined({
      action_type: "tool_call",
      tool_name: toolName,
      tool_call_id: toolCallId,
      arguments_modified: wasModified || undefined,
    }),
  );
  const { maxReportTextBytes } = supervision.limits;
  return {
    input,
    succeeded: (result) => report({ outcome: "success", fields: toResultFields(result, maxReportTextBytes) }),
    failed: (error) => report({ outcome: signal?.aborted ? "cancelled" : "error", error }),
    cancelled: () => report({ outcome: "cancelled" }),
  };
};

/** What may run. Rejects with a {@link SupervisionError}. */
const allowedInput = async (
  supervision: Supervision,
  call: SupervisedCall,
): Promise<{ readonly input: unknown; readonly wasModified: boolean }> => {
  const { toolName, input, signal } = call;
  const { approvals } = supervision.options;
  const { maxEventTextBytes } = supervision.limits;
  const judged = toJudgedCall(call, maxEventTextBytes);
  const first = toArguments(toolName, input, maxEventTextBytes);
  const { value, wasModified, wasConfirmed } = await judge(supervision, judged, first, signal);
  const isOurs = approvals === "harness" || wasModified;
  if (isOurs && !wasConfirmed && (await needsApproval(call, value))) {
    await confirmCall(supervision, call, value, judged.toPayload(value));
  }
  if (!signal?.aborted) return { input: value.input, wasModified };
  throw new SupervisionError("cancelled", "its caller gave it up", { eventType: "pre_action", toolName });
};

const needsApproval = async ({ needsApproval: needs, toolName }: SupervisedCall, value: Arguments) => {
  if (needs === undefined) return false;
  try {
    // It gets a copy of its own, so that it cannot change what was judged.
    return (await needs(judgedCopy(value.input))) !== false;
  } catch (cause) {
    const details = { eventType: "pre_action", toolName, cause } as const;
    throw new SupervisionError("unavailable", "it is unknown whether it needs approval", details);
  }
};

const confirmCall = (
  supervision: Supervision,
  { toolName, toolCallId, signal }: SupervisedCall,
  value: Arguments,
  payload: JsonObject,
): Promise<void> =>
  confirm(
    supervision,
    {
      eventType: "pre_action",
      toolName,
      toolCallId,
      reason: "the tool needs approval",
      message: toArgumentsMessage(toolName, value),
      payload,
      confirmationType: "user_confirm",
    },
    signal,
  );
