import { JsonRpcErrorCode } from "@harnesskit/protocol/envelope";
import { displayText, HarnessError, ProtocolError } from "@harnesskit/wire";
import { causesOf, connectionEndOf, connectionFailureOf } from "@harnesskit/wire/rpc";

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
  /** What came does not answer the call in JSON-RPC 2.0, or has an invalid result. */
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
  /** `maxInFlight` or `maxBufferedNotifications` is reached, and nothing was sent; or the harness said that it has too many. */
  | "overloaded"
  /** The message is too large or too deep for the transport, or no JSON, and nothing was sent; or the harness closed on it. */
  | "unsendable"
  /** The caller's signal aborted. */
  | "cancelled"
  /** This client was closed. */
  | "closed";

/** A call that the harness did not answer, or not usably. `code` says why, {@link FailureCode}. */
export class AhpFailure extends HarnessError<FailureCode> {
  static override readonly brand = "AhpFailure";
  /** With `harness_error` and `not_handled`: the code of the harness's error. */
  readonly rpcCode: number | undefined;
  /** With `harness_error` and `not_handled`: its message, as it came. It is untrusted text; `message` shows it safely. */
  readonly rpcMessage: string | undefined;

  constructor(
    code: FailureCode,
    message: string,
    options: {
      readonly cause?: unknown;
      readonly rpcCode?: number | undefined;
      readonly rpcMessage?: string | undefined;
    } = {},
  ) {
    const { cause, rpcCode, rpcMessage } = options;
    super(code, message, { cause });
    this.rpcCode = rpcCode;
    this.rpcMessage = rpcMessage;
  }
}

/** Why a call is wrong in any case: see each error of `AhpClient`. */
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
const childEnd = (thrown: unknown) => causesOf(thrown).find(({ code }) => code === "child_exited");

const describeThrown = (thrown: unknown): string => {
  if (!(thrown instanceof Error)) return "it failed without an error";
  const { message } = connectionEndOf(thrown) ?? childEnd(thrown) ?? thrown;
  return message === thrown.message ? thrown.message : `${thrown.message}: ${message}`;
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
  const kind = connectionFailureOf(thrown);
  const code = kind === "refused" ? "harness_error" : kind;
  return new AhpFailure(code, safeText(describeThrown(thrown)), { cause: thrown });
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

/** True when the harness refused a call because it knows no handshake of this agent (any more): it was not handled. */
export const wantsHandshake = (error: unknown): boolean => {
  if (!ProtocolError.isInstance(error)) return false;
  const { data } = error;
  return (
    typeof data === "object" && data !== null && "reason" in data && data.reason === "handshake_required"
  );
};
