import { HarnessError, isReplyTooLarge } from "@harnesskit/wire";

/** Why a call has no answer of the engine that could be used, or was not sent. */
export type ShellClientErrorCode =
  /** What the caller gave cannot be sent; `reason` and `path` say what and where. Nothing was sent. */
  | "invalid_request"
  /** The transport has too many messages in progress. Nothing was sent. */
  | "overloaded"
  /** The message is too large for the transport. Nothing was sent. */
  | "unsendable"
  /** The engine cannot be reached, or broke off. */
  | "engine_unreachable"
  /** No answer within `timeoutMs`. */
  | "response_timeout"
  /** The engine does not accept the credentials. */
  | "unauthorized"
  /** The engine's server does not allow this host, origin or principal. */
  | "forbidden"
  /** The engine's transport takes no such message, or is not to be trusted. */
  | "engine_refused"
  /** What came back does not answer the request; `reason` says why. Nothing of it was carried out. */
  | "invalid_response"
  /** The response is of another major version. Nothing of it was carried out. */
  | "protocol_version_unsupported"
  /** The caller's signal aborted. */
  | "cancelled"
  /** This client was closed. */
  | "closed"
  /** What a pending approval says does not belong together. */
  | "approval_mismatch";

export type ShellClientErrorReason =
  | "schema"
  | "not_json"
  | "too_large"
  | "too_deep"
  | "inline_attachment"
  | "no_reference"
  | "too_many_directives"
  | "other_request_id"
  | "no_response";

/** A call that the engine did not answer usably, or that was not sent. */
export class ShellClientError extends HarnessError<ShellClientErrorCode> {
  static override readonly brand = "ShellClientError";
  /** Whether the same call may do better later. */
  readonly retryable: boolean;
  readonly reason?: ShellClientErrorReason | undefined;
  /** Where in the message, as `request.context.attachments.0`. */
  readonly path?: string | undefined;

  constructor(
    code: ShellClientErrorCode,
    message: string,
    options: Partial<Pick<ShellClientError, "cause" | "path" | "reason" | "retryable">> = {},
  ) {
    const { reason, path, retryable = false, cause } = options;
    super(code, message, { cause });
    this.retryable = retryable;
    this.reason = reason;
    this.path = path;
  }
}

/** Why a call is over whose signal aborted: its caller gave up, or the client was closed. */
export const givenUp = ({ reason }: { readonly reason: unknown }): ShellClientError =>
  ShellClientError.isInstance(reason)
    ? reason
    : new ShellClientError("cancelled", "the call was given up", { cause: reason });

/** What the codes of wire and of transports mean; any other one means that the engine cannot be reached. */
const meanings: Readonly<Record<string, readonly [ShellClientErrorCode, string]>> = {
  unauthorized: ["unauthorized", "the engine does not take the credentials"],
  forbidden: ["forbidden", "the engine's server does not allow this host, origin or principal"],
  not_found: ["engine_refused", "there is no engine at that address"],
  method_not_allowed: ["engine_refused", "there is no engine at that address"],
  redirect_refused: ["engine_refused", "the engine is at another address, which is not followed"],
  unsupported_media_type: ["engine_refused", "the server is not an OpenHarness engine"],
  bad_request: ["engine_refused", "the engine's server refused the message"],
  tls_failed: ["engine_refused", "there is no secure connection to the engine"],
  frame_too_large: ["unsendable", "the request is too large for the transport"],
  request_too_large: ["unsendable", "the request is too large for the engine"],
  invalid_argument: ["unsendable", "the transport cannot send the request"],
  buffer_full: ["overloaded", "the transport has too many messages in progress"],
  request_timeout: ["response_timeout", "the engine did not answer in time"],
  wrong_content_type: ["invalid_response", "what came back is not JSON"],
  malformed_reply: ["invalid_response", "what came back is not HTTP"],
  invalid_message: ["invalid_response", "what came back is not JSON, or nests too deeply"],
  unexpected_status: ["invalid_response", "what came back is not a response"],
};

const retryable: ReadonlySet<ShellClientErrorCode> = new Set([
  "engine_unreachable",
  "response_timeout",
  "overloaded",
]);

/** Makes one error of whatever a transport rejects with. */
export const toClientError = (cause: unknown, message: unknown): ShellClientError => {
  if (ShellClientError.isInstance(cause)) return cause;
  if (isReplyTooLarge(cause, message)) {
    const details = { reason: "too_large", cause } as const;
    return new ShellClientError("invalid_response", "what came back is too large", details);
  }
  const code = HarnessError.isInstance(cause) ? cause.code : "";
  const [meaning, text] = (Object.hasOwn(meanings, code) ? meanings[code] : undefined) ?? [
    "engine_unreachable" as const,
    "the engine cannot be reached, or broke off",
  ];
  // What the server said, such as which origin it does not know, or what is wrong with its certificate.
  const isSaid = meaning === "forbidden" || code === "tls_failed";
  const said = isSaid ? `: ${(cause as HarnessError).message}` : "";
  return new ShellClientError(meaning, `${text}${said}`, { retryable: retryable.has(meaning), cause });
};

/** How long a server asked to be left alone, in milliseconds. */
export const retryAfterMsOf = (cause: unknown): number => {
  if (typeof cause !== "object" || cause === null || !("retryAfterMs" in cause)) return 0;
  return typeof cause.retryAfterMs === "number" && cause.retryAfterMs > 0 ? cause.retryAfterMs : 0;
};
