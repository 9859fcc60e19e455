import { HarnessError } from "@harnesskit/wire";
import { ShellClientError, type ShellClientErrorCode } from "./shell-client-error.ts";

/** What the codes of wire and of transports mean; any other one means that the engine cannot be reached. */
const meanings: Readonly<Record<string, readonly [ShellClientErrorCode, string]>> = {
  unauthorized: ["unauthorized", "the engine does not take the credentials"],
  forbidden: ["forbidden", "the credentials do not allow it"],
  not_found: ["engine_refused", "there is no engine at that address"],
  method_not_allowed: ["engine_refused", "there is no engine at that address"],
  redirect_refused: ["engine_refused", "the engine is at another address, which is not followed"],
  unsupported_media_type: ["engine_refused", "what answers is no engine of OpenHarness"],
  bad_request: ["engine_refused", "the engine's server refused the message"],
  tls_failed: ["engine_refused", "the engine's certificate is not trusted"],
  request_too_large: ["unsendable", "the request is too large for the engine"],
  invalid_argument: ["unsendable", "the transport cannot send the request"],
  buffer_full: ["overloaded", "the transport has too many messages under way"],
  request_timeout: ["response_timeout", "the engine did not answer in time"],
  wrong_content_type: ["invalid_response", "what came back is no JSON"],
  malformed_reply: ["invalid_response", "what came back is no HTTP"],
  invalid_message: ["invalid_response", "what came back is no JSON, or nests too deeply"],
  unexpected_status: ["invalid_response", "what came back is no response"],
};

const retryable: ReadonlySet<ShellClientErrorCode> = new Set([
  "engine_unreachable",
  "response_timeout",
  "overloaded",
]);

const codeOf = (cause: unknown): string => (HarnessError.isInstance(cause) ? cause.code : "");

/** A transport says `frame_too_large` of a message and of its reply; the one is told from the other by its size. */
const isReplyTooLarge = (cause: object, message: unknown): boolean => {
  const limit = "maxFrameBytes" in cause ? Number(cause.maxFrameBytes) : 0;
  return new TextEncoder().encode(JSON.stringify(message)).length <= limit;
};

/** Makes one error of whatever a transport rejects with. */
export const toClientError = (cause: unknown, message: unknown): ShellClientError => {
  if (ShellClientError.isInstance(cause)) return cause;
  const code = codeOf(cause);
  if (code === "frame_too_large") {
    return isReplyTooLarge(cause as object, message)
      ? new ShellClientError("invalid_response", "what came back is too large", {
          reason: "too_large",
          cause,
        })
      : new ShellClientError("unsendable", "the request is too large for the transport", { cause });
  }
  const [meaning, text] = (Object.hasOwn(meanings, code) ? meanings[code] : undefined) ?? [
    "engine_unreachable" as const,
    "the engine cannot be reached, or broke off",
  ];
  return new ShellClientError(meaning, text, { retryable: retryable.has(meaning), cause });
};

/** How long a server asked to be left alone, in milliseconds. */
export const retryAfterMsOf = (cause: unknown): number => {
  if (typeof cause !== "object" || cause === null || !("retryAfterMs" in cause)) return 0;
  return typeof cause.retryAfterMs === "number" && cause.retryAfterMs > 0 ? cause.retryAfterMs : 0;
};
