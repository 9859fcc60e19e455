import { ChatHarnessError } from "@harnesskit/chat-harness";
import type { ErroredTurn } from "@harnesskit/protocol/chat";
import { ShellErrorCode } from "@harnesskit/protocol/openharness";
import { ShellEngineError } from "@harnesskit/shell-engine";

/** A turn that failed, in words for its user. `isOver`: the same request would not begin it again. */
export const turnFailure = (turn: ErroredTurn, isOver: boolean): ShellEngineError => {
  const { error_bucket: bucket, error_category: category, reply } = turn;
  return new ShellEngineError(bucket, reply.content, {
    retryable: bucket === "retryable_transient" && !isOver,
    details: category === undefined ? undefined : { category },
  });
};

export const alreadyAnswered = () =>
  new ShellEngineError(
    ShellErrorCode.ContinuationUsed,
    "This was answered before, perhaps by another shell.",
  );

const known: Readonly<Partial<Record<ChatHarnessError["code"], readonly [string, string, boolean]>>> = {
  session_busy: [
    ShellErrorCode.EngineOverloaded,
    "Too many messages wait in this conversation: try again.",
    true,
  ],
  harness_busy: [ShellErrorCode.EngineOverloaded, "The engine is overloaded: try again.", true],
  harness_closed: [ShellErrorCode.Cancelled, "The engine is closing.", true],
  turn_cancelled: [ShellErrorCode.Cancelled, "The request was cancelled.", true],
  // What its tools have done is done: only the user can say whether it is to be done again.
  turn_timeout: [ShellErrorCode.EngineTimeout, "The turn took too long.", false],
  turn_abandoned: [ShellErrorCode.EngineTimeout, "The turn took too long and does not end.", false],
};

/** Words a harness's refusal of a turn for shells; returns everything else as it is. */
export const harnessFailure = (cause: unknown): unknown => {
  if (!ChatHarnessError.isInstance(cause)) return cause;
  const [code, message, retryable] = known[cause.code] ?? [];
  if (code === undefined || message === undefined || retryable === undefined) return cause;
  return new ShellEngineError(code, message, { retryable, cause });
};
