import type { JsonObject } from "@harnesskit/protocol/envelope";
import { ThreadErrorCode } from "@harnesskit/protocol/threads";
import { HarnessError, invalidParams, ProtocolError } from "@harnesskit/wire";
import { defined } from "@harnesskit/wire/json";

/** A turn cannot go on. The message is shown to people: a safe sentence. A runner may have codes of its own. */
export class TurnError extends HarnessError<string> {
  static override readonly brand = "TurnError";
  declare readonly name: "TurnError";
}

/**
 * Why a store could not read or write; `lock_unreadable` where it is unknown which server holds the thread, `log_damaged` where the
 * thread's log has a line that no server left there: the thread can be listed and deleted, not read or continued.
 */
export type ThreadStoreErrorCode =
  | "store_failed"
  | "log_damaged"
  | "store_full"
  | "store_closed"
  | "thread_locked"
  | "lock_unreadable";

/** Those that the database below a store has, too. */
const databaseCodes: ReadonlySet<string> = new Set<ThreadStoreErrorCode>([
  "store_failed",
  "store_full",
  "store_closed",
]);

/** The store could not read or write. */
export class ThreadStoreError extends HarnessError<ThreadStoreErrorCode> {
  static override readonly brand = "ThreadStoreError";
  /** With `store_failed`: the log is not as this server left it. */
  readonly detail?: "log_changed";
  /** With `thread_locked`: when the lease of the other server ends, if that is gone. */
  readonly retryAfterMs?: number;

  constructor(
    code: ThreadStoreErrorCode,
    message: string,
    options: { cause?: unknown; detail?: "log_changed"; retryAfterMs?: number } = {},
  ) {
    const { cause, detail, retryAfterMs } = options;
    super(code, message, { cause });
    if (detail !== undefined) this.detail = detail;
    if (retryAfterMs !== undefined) this.retryAfterMs = retryAfterMs;
  }
}

/**
 * True for a failure of the store, also for one of the database below it, which has a class of its own. False where it is worded
 * for a client already.
 */
export const isStoreFailure = (error: unknown): error is HarnessError<ThreadStoreErrorCode> =>
  ThreadStoreError.isInstance(error) ||
  (HarnessError.isInstance(error) && databaseCodes.has(error.code) && !ProtocolError.isInstance(error));

/** The log was deleted, replaced or cut while a server had it open: nothing that relies on it may run. */
export const logChanged = (): ThreadStoreError =>
  new ThreadStoreError(
    "store_failed",
    "The log of the thread was changed from outside; it is read anew when the thread is used next",
    { detail: "log_changed" },
  );

export const isLogChanged = (error: unknown): error is ThreadStoreError =>
  ThreadStoreError.isInstance(error) && error.detail === "log_changed";

export const isLogDamaged = (error: unknown): boolean =>
  ThreadStoreError.isInstance(error) && error.code === "log_damaged";

/** Something was written to a turn that has ended (`turn_ended`). */
export const turnEnded = (): HarnessError => new HarnessError("turn_ended", "the turn has ended");

/** What the protocol has a number of its own for, and what it says unless more is known. */
const kinds = {
  thread_not_found: [ThreadErrorCode.ThreadNotFound, "Thread not found"],
  turn_busy: [ThreadErrorCode.TurnBusy, "The thread has an active turn already"],
  turn_not_found: [ThreadErrorCode.TurnNotFound, "No turn is running on this thread"],
  approval_not_found: [ThreadErrorCode.ApprovalNotFound, "No approval waits under this id"],
  request_conflict: [
    ThreadErrorCode.RequestConflict,
    "This clientRequestId came with another payload before",
  ],
  thread_archived: [
    ThreadErrorCode.ThreadArchived,
    "The thread is archived: call thread.unarchive before you start a turn",
  ],
} as const;

/** An error of the protocol: -32001 to -32006. */
export const threadError = (
  code: keyof typeof kinds,
  data?: JsonObject,
  message: string = kinds[code][1],
): ProtocolError => new ProtocolError(kinds[code][0], message, { code, data });

/** -32002: what has an active turn cannot be deleted, or archived. */
export const turnActive = (what: "deleted" | "archived"): ProtocolError =>
  threadError("turn_busy", { reason: "turn_active" }, `The thread cannot be ${what} while a turn is active`);

/** Why an answer or a grant is refused, in words. */
const refusals = {
  unknown: kinds.approval_not_found[1],
  already_resolved: "This approval was answered already",
  digest_mismatch: "The approval waits, but for another digest",
  changed: "What would run is no longer what was shown",
  unknown_grant: "There is no such grant",
} as const;

/** -32004, with the reason in `data`. */
export const approvalNotFound = (
  data: JsonObject & { readonly reason: keyof typeof refusals },
): ProtocolError => threadError("approval_not_found", data, refusals[data.reason]);

/** -32005: the `clientRequestId` came with another payload before. */
export const requestConflict = (): ProtocolError =>
  threadError("request_conflict", { reason: "request_conflict" });

/** True for the error of a thread that this server may not write. */
export const isLocked = (error: unknown): error is ThreadStoreError =>
  ThreadStoreError.isInstance(error) && (error.code === "thread_locked" || error.code === "lock_unreadable");

/** -32002: another server holds the thread, or it is unknown which one does. */
export const threadLocked = ({ code, message, retryAfterMs }: ThreadStoreError): ProtocolError => {
  const text = code === "thread_locked" ? "Another server holds this thread" : message;
  return new ProtocolError(ThreadErrorCode.TurnBusy, text, {
    ...{ code, data: defined({ reason: code, retryAfterMs }) },
  });
};

/** -32602: the whole answer does not fit in a message. Asked for with `limit`, it comes in pages that fit. */
export const resultTooLarge = (method: "thread.get" | "thread.list", maxBytes: number): ProtocolError => {
  const what = method === "thread.get" ? "The history" : "The list of threads";
  return invalidParams(`${what} exceeds the message limit: ask for pages of it with \`limit\``, {
    reason: "result_too_large",
    param: "limit",
    maxBytes,
  });
};
