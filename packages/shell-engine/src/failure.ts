import { jsonLength } from "@harnesskit/protocol/envelope";
import { type ShellError, ShellErrorCode, ShellErrorSchema } from "@harnesskit/protocol/openharness";
import { displayText, HarnessError } from "@harnesskit/wire";
import { copyJson } from "./copy-json.ts";
import type { Redact } from "./redaction.ts";
import { ShellEngineError } from "./shell-engine-error.ts";

const codePattern = /^[a-z][a-z0-9_.]{0,63}$/;
const maxMessageLength = 1000;

/** What a shell is told of what is not meant for it. */
export const internalError = (): ShellError => ({
  code: ShellErrorCode.InternalError,
  message: "The engine could not handle the request.",
  retryable: false,
});

const ownWords = (
  { code, message, retryable, details }: ShellEngineError,
  redact: Redact,
  maxLength: number,
): ShellError | undefined => {
  if (!codePattern.test(code)) return undefined;
  const kept = details && copyJson(details);
  if (jsonLength(kept) > maxLength) return undefined;
  return ShellErrorSchema.parse({
    code,
    message: displayText(redact(message), { multiline: true, maxLength: maxMessageLength }),
    retryable,
    ...(kept && { details: redact(kept) }),
  });
};

/**
 * What a {@link ShellEngineError} says to the shell. Undefined for whatever else was thrown, and where what it says cannot be
 * sent or has details of more than `maxLength` characters. Never throws.
 */
export const shellErrorOf = (error: unknown, redact: Redact, maxLength: number): ShellError | undefined => {
  try {
    return ShellEngineError.isInstance(error) ? ownWords(error, redact, maxLength) : undefined;
  } catch {
    // Details that are no JSON or lead back to themselves, or something that does not let itself be looked at.
    return undefined;
  }
};

/** A request that is wrong, and where. */
export const invalidRequest = (message: string, details?: { reason: string; path?: string }) =>
  new ShellEngineError(ShellErrorCode.InvalidRequest, message, details && { details });

/** An id that would be kept is longer than it may be. */
export const idTooLong = (path: string) =>
  invalidRequest("An id is too long.", { reason: "id_too_long", path });

/** There is no room for more at the moment. */
export const overloaded = (cause?: unknown) =>
  new ShellEngineError(ShellErrorCode.EngineOverloaded, "Too much is under way: try again later.", {
    retryable: true,
    cause,
  });

/** What a handler did wrong: told to the operator, and an `internal_error` for the shell. */
export class HandlerFault extends HarnessError {
  override readonly name = "HandlerFault";
}
