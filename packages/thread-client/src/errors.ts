import { ThreadErrorCode } from "@harnesskit/protocol/threads";
import { displayText, HarnessError, ProtocolError } from "@harnesskit/wire";

const threadCodes = {
  [ThreadErrorCode.ThreadNotFound]: "thread_not_found",
  [ThreadErrorCode.TurnBusy]: "turn_busy",
  [ThreadErrorCode.TurnNotFound]: "turn_not_found",
  [ThreadErrorCode.ApprovalNotFound]: "approval_not_found",
  [ThreadErrorCode.RequestConflict]: "request_conflict",
  [ThreadErrorCode.ThreadArchived]: "thread_archived",
} as const;

/** The string codes of the thread protocol's own errors (section "Error Codes"); the last two are those of extensions. */
export type ThreadErrorName = (typeof threadCodes)[keyof typeof threadCodes];

/** The server refused a call with one of the protocol's own errors: -32001 to -32006. `data` is kept as it came. */
export class ThreadError extends ProtocolError {
  static override readonly brand = "ThreadError";
  declare readonly code: ThreadErrorName;
}

/** Gives an error of the wire the code of the thread protocol where it has one; anything else passes as it is. */
export const toThreadError = (error: unknown): unknown => {
  if (!ProtocolError.isInstance(error)) return error;
  const code = threadCodes[error.rpcCode as keyof typeof threadCodes] as ThreadErrorName | undefined;
  if (code === undefined) return error;
  const { rpcCode, message, data } = error;
  return new ThreadError(rpcCode, message, { code, cause: error, data });
};

/** The server speaks another major version of the protocol, or names none (`version_mismatch`). */
export class VersionMismatchError extends HarnessError {
  static override readonly brand = "VersionMismatchError";
  constructor(
    readonly serverVersion: string,
    readonly clientVersion: string,
  ) {
    const shown = displayText(serverVersion, { maxLength: 50 });
    super(
      "version_mismatch",
      `the server speaks version ${shown} of the protocol, this client ${clientVersion}`,
    );
  }
}

/** The call needs an extension that the server does not announce (`unsupported`). Nothing was sent. */
export class UnsupportedError extends HarnessError {
  static override readonly brand = "UnsupportedError";
  constructor(
    readonly method: string,
    /** The name in `capabilities.extensions`. */
    readonly extension: string,
  ) {
    super("unsupported", `${method}: the server does not have the extension "${extension}"`);
  }
}

/** A result or a notification does not fit its schema (`invalid_message`). Nothing of it was used. */
export class MalformedMessageError extends HarnessError {
  static override readonly brand = "MalformedMessageError";
  constructor(
    /** The method or the notification's name. */
    readonly method: string,
    detail: string,
    options?: { cause?: unknown },
  ) {
    super("invalid_message", `${method}: ${detail}`, options);
  }
}

/**
 * What was heard of a thread is not in its log (`log_went_back`): the log was replaced by an earlier state, or by another.
 * What was heard before may never have happened for this server.
 */
export class LogWentBackError extends HarnessError {
  static override readonly brand = "LogWentBackError";
  constructor(
    readonly threadId: string,
    options?: { cause?: unknown },
  ) {
    super("log_went_back", "the log of the thread is not the one that was heard: it went back", options);
  }
}

/** True for the refusal of a server that compared what was heard with its log. */
export const isWentBackRefusal = (error: unknown): boolean => {
  const data = ProtocolError.isInstance(error) ? error.data : undefined;
  return typeof data === "object" && data !== null && "reason" in data && data.reason === "log_went_back";
};

/** Why an approval was rejected by this client itself, or why its callback was given up. */
export type ThreadApprovalErrorCode =
  /** The digest is not that of the tool and the input that are shown. */
  | "approval_digest_mismatch"
  /** The callback threw, or returned no decision. */
  | "approval_callback_failed"
  /** The answer could not be delivered. */
  | "approval_unanswered"
  /** The reason of the callback's signal: another client answered, or the turn ended. */
  | "approval_settled";

/** Something about one approval. `code` says what, {@link ThreadApprovalErrorCode}. */
export class ThreadApprovalError extends HarnessError<ThreadApprovalErrorCode> {
  static override readonly brand = "ThreadApprovalError";
  constructor(
    code: ThreadApprovalErrorCode,
    readonly requestId: string,
    message: string,
    options?: { cause?: unknown },
  ) {
    super(code, message, options);
  }
}
