import {
  type Continuation,
  ContinuationSchema,
  responseExtensionOf,
  ShellErrorCode,
  type ShellResponse,
} from "@harnesskit/protocol/openharness";
import { InvalidArgumentError } from "@harnesskit/wire";
import type { ShellSession } from "./shell-client-options.ts";

const maxIdLength = 512;

/** Errors that a request meets before its continuation is used. */
const usesNothing: ReadonlySet<string> = new Set([
  ShellErrorCode.Unauthorized,
  ShellErrorCode.Forbidden,
  ShellErrorCode.InvalidRequest,
  ShellErrorCode.ProtocolVersionUnsupported,
  ShellErrorCode.RequestIdConflict,
]);

/** Whether what a request showed is still good: where that is unknown, it counts as kept. */
export const isContinuationKept = (response: ShellResponse | undefined): boolean => {
  if (response === undefined) return true;
  const { status, error } = response.response;
  return (
    status === "error" && error !== undefined && (error.retryable === true || usesNothing.has(error.code))
  );
};

/** What a response says of how to go on. */
export const continuationOf = ({ response }: ShellResponse): Continuation | undefined =>
  responseExtensionOf(response.extensions)?.continuation;

/** The continuations of questions are their answers' alone: a new intent does not use them up. */
const isOfQuestion = ({ response }: ShellResponse, { continuation_token: token }: Continuation): boolean =>
  (response.action_directives ?? []).some(({ action_type, payload }) => {
    if (action_type !== "request_approval") return false;
    const own = payload?.continuation as { continuation_token?: unknown } | undefined;
    return own === undefined || own?.continuation_token === token;
  });

/** Where a conversation is. A continuation is valid once, so a caller takes it exclusively. */
export class SessionState {
  readonly #sessionId: string;
  readonly #conversationId: string | undefined;
  #continuation: Continuation | undefined;

  /** Throws `invalid_argument` for an invalid session. */
  constructor({ sessionId, conversationId, continuation }: ShellSession) {
    for (const [name, id] of Object.entries({ sessionId, conversationId: conversationId ?? sessionId })) {
      if (typeof id === "string" && id !== "" && id.length <= maxIdLength) continue;
      throw new InvalidArgumentError(`session.${name} must be a string of 1 to ${maxIdLength} characters`);
    }
    const read = ContinuationSchema.optional().safeParse(continuation);
    if (!read.success) {
      throw new InvalidArgumentError("session.continuation is not a valid OpenHarness continuation");
    }
    this.#sessionId = sessionId;
    this.#conversationId = conversationId;
    this.#continuation = read.data;
  }

  get now(): ShellSession {
    return {
      sessionId: this.#sessionId,
      conversationId: this.#conversationId,
      continuation: this.#continuation,
    };
  }

  take(): Continuation | undefined {
    const taken = this.#continuation;
    this.#continuation = undefined;
    return taken;
  }

  /** Puts back what was not used, unless there is another one by now. */
  putBack(continuation: Continuation | undefined): void {
    this.#continuation ??= continuation;
  }

  /** Goes on from a response. */
  follow(response: ShellResponse): void {
    const continuation = continuationOf(response);
    if (continuation && !isOfQuestion(response, continuation)) this.#continuation = continuation;
  }
}
