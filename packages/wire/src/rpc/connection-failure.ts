import { HarnessError } from "../errors.ts";

/** Why a call over a connection has no result that could be used. */
export type ConnectionFailure =
  /** No connection was established. Nothing was sent. */
  | "unreachable"
  /** The connection was lost after the call was sent; whether the other side has seen it is unknown. */
  | "connection_lost"
  | "timeout"
  /** The caller's signal aborted. */
  | "cancelled"
  /** The other side refused the credentials. */
  | "unauthorized"
  /** The other side answered with an error, or closed the connection for the call. */
  | "refused"
  /** What came is not an answer. */
  | "invalid_answer"
  /** The message is too large or too deep for the transport, or not JSON; or the other side closed on it. */
  | "unsendable"
  /** Too many calls wait, on this side or the other. */
  | "overloaded";

const kinds: Readonly<Record<string, ConnectionFailure>> = {
  request_timeout: "timeout",
  request_cancelled: "cancelled",
  connection_closed: "connection_lost",
  transport_failed: "connection_lost",
  child_exited: "connection_lost",
  tls_failed: "unreachable",
  unavailable: "unreachable",
  server_error: "refused",
  unauthorized: "unauthorized",
  forbidden: "unauthorized",
  frame_too_large: "unsendable",
  invalid_argument: "unsendable",
  request_too_large: "unsendable",
  buffer_full: "overloaded",
};

/** What the system says of a connection that was not established. */
const unconnected = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH"]);

/** Why a connection that was there was ended, by the other side or by this one: these are answers. */
const endings: Readonly<Record<string, ConnectionFailure>> = {
  message_too_big: "unsendable",
  // Only what arrives can be too large for a connection to go on.
  frame_too_large: "invalid_answer",
  policy_violation: "refused",
  protocol_violation: "invalid_answer",
  unsupported_data: "invalid_answer",
  invalid_data: "invalid_answer",
  invalid_message: "invalid_answer",
};

/** These statuses are the other side's own; others say that a gateway found no server. */
const busy: ReadonlySet<unknown> = new Set([429, 503]);

/** What an error or one of its causes may say. */
export interface FailureCause {
  readonly code?: unknown;
  readonly cause?: unknown;
  readonly closedBy?: unknown;
  readonly status?: unknown;
  readonly message?: unknown;
  readonly stderrTail?: unknown;
}

/** An error and its causes, the innermost last. */
export const causesOf = (thrown: unknown): readonly FailureCause[] => {
  const causes: FailureCause[] = [];
  let current = thrown;
  while (causes.length < 6 && typeof current === "object" && current !== null) {
    causes.push(current);
    current = (current as FailureCause).cause;
  }
  return causes;
};

/** The cause that says why a connection was ended; undefined where it was lost without a reason. */
export const connectionEndOf = (thrown: unknown): FailureCause | undefined =>
  causesOf(thrown).find(({ code }) => typeof code === "string" && Object.hasOwn(endings, code));

/** Names what a connection rejected a call with. Anything unknown counts as an invalid answer. */
export const connectionFailureOf = (thrown: unknown): ConnectionFailure => {
  const kind = (HarnessError.isInstance(thrown) ? kinds[thrown.code] : undefined) ?? "invalid_answer";
  if (kind === "unreachable" && busy.has((thrown as FailureCause).status)) return "overloaded";
  if (kind !== "connection_lost") return kind;
  if (causesOf(thrown).some(({ code }) => unconnected.has(code as string))) return "unreachable";
  const ending = connectionEndOf(thrown);
  if (ending?.closedBy === "here") return "invalid_answer";
  return endings[ending?.code as string] ?? kind;
};

/** Whether the connection below a call is gone, or was never there. */
export const isConnectionLoss = (thrown: unknown): boolean => {
  const kind = connectionFailureOf(thrown);
  return kind === "connection_lost" || kind === "unreachable";
};

/** Whether `frame_too_large` of an exchange is about the reply to this message: the size of the message tells. */
export const isReplyTooLarge = (error: unknown, message: unknown): error is HarnessError => {
  if (!HarnessError.isInstance(error) || error.code !== "frame_too_large") return false;
  const limit = "maxFrameBytes" in error ? Number(error.maxFrameBytes) : 0;
  return new TextEncoder().encode(JSON.stringify(message)).length <= limit;
};
