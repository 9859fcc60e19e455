import { ChatHarnessError } from "@harnesskit/chat-harness";
import type { ErroredTurn } from "@harnesskit/protocol/chat";
import { ShellErrorCode } from "@harnesskit/protocol/openharness";
import { ShellEngineError } from "@harnesskit/shell-engine";

/** A turn that failed, in the words that its user is told. `isOver`: the same request would not begin it again. */
export const turnFailure = (turn: ErroredTurn, isOver: boolean): ShellEngineError => {
  const { error_bucket: bucket, error_category: category, reply } = turn;
  return new ShellEngineError(bucket, reply.content, {
    retryable: bucket === "retryable_transient" && !isOver,
    ...(category !== undefined && { details: { category } }),
  });
};

export const alreadyAnswered = () =>
  new ShellEngineError(
    ShellErrorCode.ContinuationUsed,
    "This was answered before, perhaps by another shell.",
  );

const known: Readonly<Partial<Record<ChatHarnessError["code"], readonly [string, string, boolean]>>> = {
  session_busy: [ShellErrorCode.EngineOverloaded, "Too much waits in this conversation: try again.", true],
  harness_busy: [ShellErrorCode.EngineOverloaded, "Too much is under way: try again.", true],
  harness_closed: [ShellErrorCode.Cancelled, "The engine is closing.", true],
  turn_cancelled: [ShellErrorCode.Cancelled, "Nobody waits for the answer any more.", true],
  // What its tools have done is done: only the user can say whether it is to be done again.
  turn_timeout: [ShellErrorCode.EngineTimeout, "The turn took too long.", false],
  turn_abandoned: [ShellErrorCode.EngineTimeout, "The turn took too long, and does not end.", false],
};

/** Why a harness did not take a turn, as shells are told; everything else as it is. */
export const harnessFailure = (cause: unknown): unknown => {
  if (!ChatHarnessError.isInstance(cause)) return cause;
  const [code, message, retryable] = known[cause.code] ?? [];
  if (code === undefined || message === undefined || retryable === undefined) return cause;
  return new ShellEngineError(code, message, { retryable, cause });
};
