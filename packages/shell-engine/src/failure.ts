import { type ShellError, ShellErrorCode } from "@harnesskit/protocol/openharness";
import { displayText, HarnessError } from "@harnesskit/wire";
import type { Redact } from "./redaction.ts";
import { ShellEngineError } from "./shell-engine-error.ts";

const codePattern = /^[a-z][a-z0-9_.]{0,63}$/;
const maxMessageLength = 1000;

/** What a shell is told of whatever went wrong. Only a {@link ShellEngineError} says something of its own. */
export const toShellError = (error: unknown, redact: Redact): ShellError => {
  if (!ShellEngineError.isInstance(error) || !codePattern.test(error.code)) {
    return {
      code: ShellErrorCode.InternalError,
      message: "The engine could not handle the request.",
      retryable: false,
    };
  }
  const { code, message, retryable, details } = error;
  return {
    code,
    message: displayText(redact(message), { multiline: true, maxLength: maxMessageLength }),
    retryable,
    ...(details && { details: redact(details) }),
  };
};

/** A request that is wrong, and where. */
export const invalidRequest = (message: string, details?: { reason: string; path?: string }) =>
  new ShellEngineError(ShellErrorCode.InvalidRequest, message, details && { details });

/** What a handler did wrong: told to the operator, and an `internal_error` for the shell. */
export class HandlerFault extends HarnessError {
  override readonly name = "HandlerFault";
}
