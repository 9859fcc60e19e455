import { type ApprovalRecord, ApprovalRecordSchema, HubErrorCode } from "@harnesskit/protocol/hub";
import { ProtocolError } from "@harnesskit/wire";
import { formatSpan, line } from "../format.ts";

/** What the hub answered in the place of a result. */
export interface HubFailure {
  readonly code: number;
  readonly reason: string | undefined;
  readonly record: ApprovalRecord | undefined;
}

/** The hub's own error; undefined for a lost connection and everything else that is not an answer. */
export const hubErrorOf = (error: unknown): HubFailure | undefined => {
  if (!ProtocolError.isInstance(error)) return undefined;
  const data = (typeof error.data === "object" && error.data !== null ? error.data : {}) as Record<
    string,
    unknown
  >;
  const record = ApprovalRecordSchema.safeParse(data.record);
  return {
    code: error.rpcCode,
    reason: typeof data.reason === "string" ? data.reason : undefined,
    record: record.success ? record.data : undefined,
  };
};

const refusals: Readonly<Record<string, string>> = {
  already_answered: "Another answer was first.",
  wrong_digest: "This is not the action that was shown. Open it again.",
  expired: "It has expired.",
  withdrawn: "The agent has withdrawn it.",
  grant_mismatch: "This grant does not cover the action, so nothing was answered.",
  preview_cut: "Part of the action is not shown, so it cannot be allowed for always.",
};

/** A failure in words, safe to show. */
export const failureText = (error: unknown): string => {
  const known = hubErrorOf(error);
  const refusal = refusals[known?.reason ?? ""];
  if (refusal !== undefined) return refusal;
  if (known?.code === HubErrorCode.RateLimited && ProtocolError.isInstance(error)) {
    const { retryAfterMs } = (error.data ?? {}) as { retryAfterMs?: unknown };
    const when = typeof retryAfterMs === "number" ? `in ${formatSpan(Math.max(1000, retryAfterMs))}` : "soon";
    return `Too many answers in a short time. Try again ${when}.`;
  }
  return line(error instanceof Error ? error.message : String(error));
};
