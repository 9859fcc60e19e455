import { JsonRpcErrorCode } from "@harnesskit/protocol/envelope";
import { displayText, HarnessError, ProtocolError } from "@harnesskit/wire";
import type { Line } from "./line.ts";

/** Why a call has no answer of the harness that could be used. */
export type FailureCode =
  /** No connection was established in time. Nothing was sent. */
  | "unreachable"
  /** The connection was lost after the call was sent; whether the harness has seen it is unknown. */
  | "connection_lost"
  /** No answer before the deadline. */
  | "timeout"
  /** The harness refused the credentials. */
  | "unauthorized"
  /** The harness answered with an error; `rpcCode` and `rpcMessage` say which, where it was one of JSON-RPC. */
  | "harness_error"
  /** What came, in time or while the call waited, does not answer it in JSON-RPC 2.0, or has an invalid result. */
  | "invalid_answer"
  /** The result is not a decision of the event's type. */
  | "invalid_decision"
  /** A batch was answered with more or fewer decisions than it had events. */
  | "decision_count"
  /** The harness speaks another major version of the protocol. */
  | "version_mismatch"
  /** The harness answered that it handles no such event: -32601, or -32603 "Capability not supported". */
  | "not_handled"
  /** The event is deeper than the harness takes. Nothing was sent. */
  | "depth_exceeded"
  /** The batch is larger than the harness takes. Nothing was sent. */
  | "batch_too_large"
  /** `maxInFlight` calls wait for their answers, and nothing was sent; or the harness said that it has too many. */
  | "overloaded"
  /** The message is too large or too deep for the transport, or no JSON, and nothing was sent; or the harness closed on it. */
  | "unsendable"
  /** The caller's signal aborted. */
  | "cancelled"
  /** This client was closed. */
  | "closed";

export interface AhpFailureOptions {
  readonly cause?: unknown;
  readonly rpcCode?: number | undefined;
  readonly rpcMessage?: string | undefined;
}

/** A call that the harness did not answer, or not usably. `code` says why, {@link FailureCode}. */
export class AhpFailure extends HarnessError<FailureCode> {
  static override readonly brand = "AhpFailure";
  /** With `harness_error` and `not_handled`: the code of the harness's error. */
  readonly rpcCode?: number;
  /** With `harness_error` and `not_handled`: its message, as it came. It is untrusted text; `message` shows it safely. */
  readonly rpcMessage?: string;

  constructor(code: FailureCode, message: string, { cause, rpcCode, rpcMessage }: AhpFailureOptions = {}) {
    super(code, message, cause === undefined ? undefined : { cause });
    if (rpcCode !== undefined) this.rpcCode = rpcCode;
    if (rpcMessage !== undefined) this.rpcMessage = rpcMessage;
  }
}

export type UsageErrorCode =
  /** A handshake has to succeed before anything else. */
  | "handshake_required"
  /** The event does not fit its type, or its type is unknown. */
  | "invalid_event"
  /** A notification where a blocking event belongs, or the other way round. */
  | "wrong_event_kind"
  /** A batch holds an event that has a decision of its own. */
  | "not_batchable";

/** A call that is wrong whatever the harness says (`code`, {@link UsageErrorCode}). Nothing was sent. */
export class AhpUsageError extends HarnessError<UsageErrorCode> {
  static override readonly brand = "AhpUsageError";
}

const failureCodes: Readonly<Record<string, FailureCode>> = {
  request_timeout: "timeout",
  request_cancelled: "cancelled",
  connection_closed: "connection_lost",
  transport_failed: "connection_lost",
  child_exited: "connection_lost",
  tls_failed: "unreachable",
  unavailable: "unreachable",
  server_error: "harness_error",
  unauthorized: "unauthorized",
  forbidden: "unauthorized",
  frame_too_large: "unsendable",
  invalid_argument: "unsendable",
  request_too_large: "unsendable",
  buffer_full: "overloaded",
};

/** What the system says of a connection that was not established. */
const unconnected = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH"]);

/** Why a harness, or this side of it, ended a connection that was there: these are answers. */
const endings: Readonly<Record<string, FailureCode>> = {
  message_too_big: "unsendable",
  // Only what arrives can be too large for a connection to go on.
  frame_too_large: "invalid_answer",
  policy_violation: "harness_error",
  protocol_violation: "invalid_answer",
  unsupported_data: "invalid_answer",
  invalid_data: "invalid_answer",
  invalid_message: "invalid_answer",
};

interface Cause {
  readonly code?: unknown;
  readonly cause?: unknown;
  readonly closedBy?: unknown;
  readonly message?: unknown;
  readonly stderrTail?: unknown;
}

/** An error and its causes, the innermost last. */
const causesOf = (thrown: unknown): readonly Cause[] => {
  const causes: Cause[] = [];
  let current = thrown;
  while (causes.length < 6 && typeof current === "object" && current !== null) {
    causes.push(current);
    current = (current as Cause).cause;
  }
  return causes;
};

/** What one of the causes says of a connection's end, in a code and in words. */
const connectionEnd = (
  thrown: unknown,
): { readonly code: FailureCode; readonly text: string } | undefined => {
  for (const { code, message, closedBy } of causesOf(thrown)) {
    const ending = typeof code === "string" && Object.hasOwn(endings, code) ? endings[code] : undefined;
    if (ending) return { code: closedBy === "here" ? "invalid_answer" : ending, text: String(message) };
  }
  return undefined;
};

/** These statuses are a harness's own; others say that a gateway found no harness. */
const busy: ReadonlySet<unknown> = new Set([429, 503]);

const failureCodeOf = (thrown: unknown): FailureCode => {
  const code = (HarnessError.isInstance(thrown) ? failureCodes[thrown.code] : undefined) ?? "invalid_answer";
  if (code === "unreachable" && busy.has((thrown as { status?: unknown }).status)) return "overloaded";
  if (code !== "connection_lost") return code;
  const wasUnconnected = causesOf(thrown).some((cause) => unconnected.has(cause.code as string));
  return wasUnconnected ? "unreachable" : (connectionEnd(thrown)?.code ?? code);
};

interface Issue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

/** The first issue with its field, safe to show: `retry_after_ms: expected an integer`. It contains no value. */
export const firstIssue = ({ issues }: { readonly issues: readonly Issue[] }): string => {
  const [{ path, message } = { path: [], message: "it does not match its schema" }] = issues;
  return safeText(`${path.length > 0 ? `${path.map(String).join(".")}: ` : ""}${message}`);
};

const safeText = (text: string): string => displayText(text, { maxLength: 300 });

/** The child process whose end ended the connection. */
const childEnd = (thrown: unknown): Cause | undefined =>
  causesOf(thrown).find(({ code }) => code === "child_exited");

const describeThrown = (thrown: unknown): string => {
  if (!(thrown instanceof Error)) return "it failed without an error";
  const ending = connectionEnd(thrown)?.text ?? childEnd(thrown)?.message;
  return ending === undefined || ending === thrown.message ? thrown.message : `${thrown.message}: ${ending}`;
};

/** What the reference and our servers answer where no handler decides an event of this type. */
const isNotHandled = ({ rpcCode, message }: ProtocolError): boolean =>
  rpcCode === JsonRpcErrorCode.MethodNotFound ||
  (rpcCode === JsonRpcErrorCode.InternalError &&
    /^(?:Handler error: )?Capability not supported\b/.test(message));

/** Names what a connection rejected a call with. Anything unknown counts as an invalid answer. */
export const toFailure = (thrown: unknown): AhpFailure => {
  if (AhpFailure.isInstance(thrown)) return thrown;
  if (ProtocolError.isInstance(thrown)) {
    const { rpcCode, message } = thrown;
    const text = `the harness answered with error ${rpcCode}: ${safeText(message)}`;
    const code = isNotHandled(thrown) ? "not_handled" : "harness_error";
    return new AhpFailure(code, text, { cause: thrown, rpcCode, rpcMessage: message });
  }
  return new AhpFailure(failureCodeOf(thrown), safeText(describeThrown(thrown)), { cause: thrown });
};

/**
 * As {@link toFailure}, for a request before which so many unexpected messages had come over its line: a harness that has
 * sent more since is not absent, though no answer came.
 */
export const toLineFailure = (thrown: unknown, line: Line | undefined, unexpected: number): AhpFailure => {
  const failure = toFailure(thrown);
  const isAbsent = !line || line.unexpected.count === unexpected;
  if (isAbsent || !(failure.code === "timeout" || failure.code === "connection_lost")) return failure;
  const what = safeText(line.unexpected.last ?? "");
  const text = `what the harness sent does not answer the call (${what}): ${failure.message}`;
  return new AhpFailure("invalid_answer", text, { cause: failure });
};

/** As {@link toFailure}, for what opening a connection rejected with: nothing was sent then. */
export const toOpenFailure = (thrown: unknown): AhpFailure => {
  const failure = toFailure(thrown);
  if (failure.code !== "connection_lost" && failure.code !== "invalid_answer") return failure;
  return new AhpFailure("unreachable", failure.message, { cause: thrown });
};

/** The line that names an error, or else the last one: the lines below an error are its stack. */
const lastWords = (stderr: string): string | undefined => {
  const lines = stderr.split("\n").filter((line) => line.trim() !== "");
  return lines.findLast((line) => /^[\w.]*(?:Error|Exception)\b.*:/.test(line)) ?? lines.at(-1);
};

/**
 * A failure of `connect` with what a child process that ended had written last. For its caller only: the reason of a decision may
 * reach a model, and must not have it.
 */
export const withStderr = (failure: AhpFailure): AhpFailure => {
  const { stderrTail } = childEnd(failure) ?? {};
  const words = typeof stderrTail === "string" ? lastWords(stderrTail) : undefined;
  if (words === undefined) return failure;
  return new AhpFailure(failure.code, `${failure.message}: ${safeText(words)}`, { cause: failure.cause });
};

/** True when the connection below the call is gone, or was never there. */
export const isLoss = ({ code }: AhpFailure): boolean => code === "connection_lost" || code === "unreachable";

/** True when the harness refused a call because it knows no handshake of this agent (any more): it was not handled. */
export const wantsHandshake = ({ code, cause }: AhpFailure): boolean => {
  if (code !== "harness_error" || !ProtocolError.isInstance(cause)) return false;
  const { data } = cause;
  return (
    typeof data === "object" && data !== null && "reason" in data && data.reason === "handshake_required"
  );
};
