import { type ShellError, ShellErrorCode } from "@harnesskit/protocol/openharness";
import { type Clock, displayText, HarnessError } from "@harnesskit/wire";
import { jsonProblem } from "@harnesskit/wire/json";
import { type Redact, redactNothing } from "./redaction.ts";
import { ShellEngineError } from "./shell-engine-error.ts";
import type { Payload } from "./to-payload.ts";

const codePattern = /^[a-z][a-z0-9_.]{0,63}$/;
const maxMessageLength = 1000;

/** What a shell gets in place of a failure that is not meant for it. */
const internalError = (): ShellError => ({
  code: ShellErrorCode.InternalError,
  message: "The engine could not handle the request.",
  retryable: false,
});

/** What a handler or a hook threw: from its words what must not be shown is removed; the engine's own stay as they are. */
export class Thrown {
  readonly error: unknown;

  constructor(error: unknown) {
    this.error = error;
  }
}

const thrownWords = (
  { code, message, retryable, details }: ShellEngineError,
  redact: Redact,
  maxLength: number,
): ShellError | undefined => {
  if (!codePattern.test(code)) return undefined;
  if (details !== undefined && jsonProblem(details, { maxBytes: maxLength })) return undefined;
  return {
    code,
    message: displayText(redact(message), { multiline: true, maxLength: maxMessageLength }),
    retryable,
    details: details && redact(details),
  };
};

/**
 * What a {@link ShellEngineError} says to the shell. Undefined for whatever else was thrown, and where what it says cannot be
 * sent or has details of more than `maxLength` characters.
 */
const shellErrorOf = (failure: unknown, redact: Redact, maxLength: number): ShellError | undefined => {
  const [error, remove] = failure instanceof Thrown ? [failure.error, redact] : [failure, redactNothing];
  return ShellEngineError.isInstance(error) ? thrownWords(error, remove, maxLength) : undefined;
};

/** Makes responses of failures; what is not meant for the shell is an `internal_error` for it, and reported. */
export class Failures {
  constructor(
    readonly onError: (error: unknown) => void,
    readonly maxLength: number,
    readonly clock: Clock,
  ) {}

  payload(failure: unknown, request?: { readonly redact: Redact; readonly startedAt: number }): Payload {
    const own = shellErrorOf(failure, request?.redact ?? redactNothing, this.maxLength);
    if (!own) this.onError(failure instanceof Thrown ? failure.error : failure);
    const engine_latency_ms = request && this.clock.elapsedMs() - request.startedAt;
    const value = { status: "error" as const, error: own ?? internalError(), engine_latency_ms };
    return { value, denials: [] };
  }
}

/** A request that is not valid, and where. */
export const badRequest = (message: string, details?: { reason: string; path?: string }) =>
  new ShellEngineError(ShellErrorCode.InvalidRequest, message, details && { details });

/** A message that cannot be read. */
export const notJson = () => badRequest("The body is not a JSON message.", { reason: "not_json" });

/** An id that would be kept is longer than it may be. */
export const idTooLong = (path: string) => badRequest("An id is too long.", { reason: "id_too_long", path });

/** No further request can be handled at the moment. */
export const overloaded = (cause?: unknown) =>
  new ShellEngineError(ShellErrorCode.EngineOverloaded, "The engine is overloaded: try again later.", {
    retryable: true,
    cause,
  });

/** What a handler did wrong: reported to the operator, and an `internal_error` for the shell. */
export class HandlerFault extends HarnessError {
  static override readonly brand = "HandlerFault";
}
