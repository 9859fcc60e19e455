import type { JsonObject } from "@harnesskit/protocol/envelope";
import { ThreadErrorCode } from "@harnesskit/protocol/threads";
import { HarnessError, ProtocolError } from "@harnesskit/wire";

/** A turn cannot go on. The message is shown to people: a safe sentence. */
export class TurnError extends HarnessError {
  override readonly name = "TurnError";

  static override isInstance(value: unknown): value is TurnError {
    return HarnessError.isInstance(value) && value.name === "TurnError";
  }
}

/** The store could not read or write. Codes: `store_failed`, `store_full`, `thread_locked`. */
export class StoreError extends HarnessError {
  override readonly name = "StoreError";

  static override isInstance(value: unknown): value is StoreError {
    return HarnessError.isInstance(value) && value.name === "StoreError";
  }
}

/** Something was written to a turn that has ended (`turn_ended`). */
export const turnEnded = (): HarnessError => new HarnessError("turn_ended", "the turn has ended");

/** -32001, with a reason in `data` where there is one to tell. */
export const threadNotFound = (data?: JsonObject): ProtocolError =>
  new ProtocolError(ThreadErrorCode.ThreadNotFound, "Thread not found", {
    code: "thread_not_found",
    ...(data && { data }),
  });

/** -32002 */
export const turnBusy = (data: JsonObject): ProtocolError =>
  new ProtocolError(ThreadErrorCode.TurnBusy, "The thread has an active turn already", {
    code: "turn_busy",
    data,
  });

/** -32003 */
export const turnNotFound = (): ProtocolError =>
  new ProtocolError(ThreadErrorCode.TurnNotFound, "No turn is running on this thread", {
    code: "turn_not_found",
  });

/** -32004, with the reason in `data`. */
export const approvalNotFound = (data: JsonObject): ProtocolError =>
  new ProtocolError(ThreadErrorCode.ApprovalNotFound, "No approval waits under this id", {
    code: "approval_not_found",
    data,
  });

/** -32002: another server holds the thread. */
export const threadLocked = (): ProtocolError =>
  new ProtocolError(ThreadErrorCode.TurnBusy, "Another server holds this thread", {
    code: "thread_locked",
    data: { reason: "thread_locked" },
  });

/** -32005: the `clientRequestId` came with another payload before. */
export const requestConflict = (): ProtocolError =>
  new ProtocolError(
    ThreadErrorCode.RequestConflict,
    "This clientRequestId came with another payload before",
    {
      code: "request_conflict",
      data: { reason: "request_conflict" },
    },
  );
