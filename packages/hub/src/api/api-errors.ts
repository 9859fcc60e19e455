import { ApprovalError } from "@harnesskit/approvals";
import { PolicyError } from "@harnesskit/policy";
import type { JsonValue } from "@harnesskit/protocol/envelope";
import { HubErrorCode } from "@harnesskit/protocol/hub";
import { displayText, HarnessError, invalidParams, ProtocolError } from "@harnesskit/wire";

/** The error for an id that names nothing. */
export const notFound = (thing: "approval" | "device" | "grant" | "row" | "watch", id: unknown): Error => {
  const message = `There is no ${thing} ${displayText(`${id}`, { maxLength: 100 })}`;
  return new ProtocolError(HubErrorCode.NotFound, message, { data: { reason: `${thing}_not_found` } });
};

export const rateLimited = (retryAfterMs: number): ProtocolError =>
  new ProtocolError(HubErrorCode.RateLimited, "Too many answers: try again later", {
    data: { reason: "rate_limited", retryAfterMs },
  });

/** The error for what this caller, or this hub as it is served, may not do. */
export const notAllowed = (reason: string, message: string): ProtocolError =>
  new ProtocolError(HubErrorCode.NotAllowed, message, { data: { reason } });

const refusalTexts = {
  agent_not_connected: "The agent of this session is not connected",
  agent_not_controllable: "This agent takes no commands from the hub",
  agent_refused: "The agent refused it",
  agent_did_not_answer: "The agent did not answer in time; it may still do it",
} as const;

/** The error for what an agent does not do; `said` are the agent's words. */
export const agentRefused = (reason: keyof typeof refusalTexts, said?: string): ProtocolError => {
  const words = said === undefined ? "" : `: ${displayText(said, { maxLength: 500 })}`;
  return new ProtocolError(HubErrorCode.AgentRefused, `${refusalTexts[reason]}${words}`, {
    data: { reason },
  });
};

/** Why a call was refused, as a code. */
export const reasonOf = (error: unknown): string => {
  const data = ProtocolError.isInstance(error) ? error.data : undefined;
  const { reason } = (data ?? {}) as { readonly reason?: string };
  return reason ?? (HarnessError.isInstance(error) ? error.code : "failed");
};

const unavailable: ReadonlySet<string> = new Set(["store_full", "store_closed", "store_failed"]);

/** What a client learns of a failure. Anything unknown stays as it is, and is answered without detail. */
export const toApiError = (error: unknown): unknown => {
  if (ApprovalError.isInstance(error) && error.record !== undefined) {
    const data = { reason: error.code, record: error.record as unknown as JsonValue };
    return new ProtocolError(HubErrorCode.ApprovalRefused, error.message, { data, cause: error });
  }
  if (PolicyError.isInstance(error) && error.code === "policy_changed")
    return new ProtocolError(HubErrorCode.InvalidPolicy, "The policy's file was changed meanwhile", {
      data: { reason: error.code },
      cause: error,
    });
  if (PolicyError.isInstance(error)) {
    const problems = error.problems
      .slice(0, 20)
      .map(({ message, line, column }) => ({ message, line, column }));
    return new ProtocolError(HubErrorCode.InvalidPolicy, "The policy cannot be used", {
      data: { reason: "invalid_policy", problems },
      cause: error,
    });
  }
  if (!HarnessError.isInstance(error) || ProtocolError.isInstance(error)) return error;
  if (error.code === "invalid_argument") return invalidParams(error.message, { reason: error.code });
  if (!unavailable.has(error.code)) return error;
  return new ProtocolError(HubErrorCode.Unavailable, error.message, {
    data: { reason: error.code },
    cause: error,
  });
};
