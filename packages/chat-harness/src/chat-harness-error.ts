import { HarnessError } from "@harnesskit/wire";

/** Why a harness did not do what it was asked for. */
export type ChatHarnessErrorCode =
  | "messages_field_invalid"
  | "harness_closed"
  | "harness_busy"
  | "session_busy"
  | "turn_cancelled"
  | "turn_timeout"
  | "turn_abandoned"
  | "too_many_listeners";

/**
 * A harness refused a call, or its caller gave up. A turn that failed is no such error but an `errored` outcome. For
 * `messages_field_invalid` nothing was made; for `harness_closed`, `harness_busy` and `session_busy` nothing has run; after
 * `turn_cancelled` and `turn_timeout` the session is as it was; after `turn_abandoned` the turn still runs.
 */
export class ChatHarnessError extends HarnessError {
  override readonly name = "ChatHarnessError";
  declare readonly code: ChatHarnessErrorCode;
  constructor(code: ChatHarnessErrorCode, message: string, options?: { cause?: unknown }) {
    super(code, message, options);
  }

  static override isInstance(value: unknown): value is ChatHarnessError {
    return HarnessError.isInstance(value) && value.name === "ChatHarnessError";
  }
}
