import { type ShellError, ShellErrorCode, ShellErrorSchema } from "@harnesskit/protocol/openharness";
import { displayText, HarnessError } from "@harnesskit/wire";
import type { Redact } from "./redaction.ts";
import { ShellEngineError } from "./shell-engine-error.ts";

const codePattern = /^[a-z][a-z0-9_.]{0,63}$/;
const maxMessageLength = 1000;

const internalError = (): ShellError => ({
  code: ShellErrorCode.InternalError,
  message: "The engine could not handle the request.",
  retryable: false,
});

const ownWords = ({ code, message, retryable, details }: ShellEngineError, redact: Redact): ShellError =>
  ShellErrorSchema.parse({
    code,
    message: displayText(redact(message), { multiline: true, maxLength: maxMessageLength }),
    retryable,
    ...(details && { details: redact(details) }),
  });

/**
 * What a shell is told of whatever went wrong. Only a {@link ShellEngineError} says something of its own, if it can be sent.
 * Never throws.
 */
export const toShellError = (error: unknown, redact: Redact): ShellError => {
  if (!ShellEngineError.isInstance(error) || !codePattern.test(error.code)) return internalError();
  try {
    return ownWords(error, redact);
  } catch {
    // Details that are no JSON, or that lead back to themselves.
    return internalError();
  }
};

/** A request that is wrong, and where. */
export const invalidRequest = (message: string, details?: { reason: string; path?: string }) =>
  new ShellEngineError(ShellErrorCode.InvalidRequest, message, details && { details });

/** What a handler did wrong: told to the operator, and an `internal_error` for the shell. */
export class HandlerFault extends HarnessError {
  override readonly name = "HandlerFault";
}
