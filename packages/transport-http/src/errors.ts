import { displayText, HarnessError } from "@harnesskit/wire";

/** What a failure says about the other side. */
export type FailureKind =
  /** It cannot be reached, cannot take more, or failed itself: later may go better. */
  | "unavailable"
  /** It answered and does not want this: credentials, a rule, a size, an address. */
  | "refused"
  /** What came from it cannot be understood. */
  | "malformed"
  /** It did not answer in time. */
  | "timed_out"
  /** The caller gave up. */
  | "cancelled"
  /** The mistake is on this side: nothing was sent. */
  | "local";

const statusCodes = new Map<number, readonly [code: string, kind: FailureKind]>([
  [400, ["bad_request", "refused"]],
  [401, ["unauthorized", "refused"]],
  [403, ["forbidden", "refused"]],
  [404, ["not_found", "refused"]],
  [405, ["method_not_allowed", "refused"]],
  [408, ["unavailable", "unavailable"]],
  [413, ["request_too_large", "refused"]],
  [415, ["unsupported_media_type", "refused"]],
  [429, ["unavailable", "unavailable"]],
  [502, ["unavailable", "unavailable"]],
  [503, ["unavailable", "unavailable"]],
  [504, ["unavailable", "unavailable"]],
]);

const codeOfStatus = (status: number): readonly [string, FailureKind] => {
  const known = statusCodes.get(status);
  if (known) return known;
  if (status === 0 || (status >= 300 && status < 400)) return ["redirect_refused", "refused"];
  if (status >= 400 && status < 500) return ["bad_request", "refused"];
  if (status >= 500) return ["server_error", "unavailable"];
  return ["unexpected_status", "malformed"];
};

const adviceOf: Readonly<Record<string, string>> = {
  unauthorized: ": the credentials are missing or not valid",
  forbidden: ": its rules on hosts, origins or principals do not allow it",
  not_found: ": look at the path of the URL",
  redirect_refused: ": a redirect is not followed, pass the final URL",
  request_too_large: ": the message is over its limit",
};

/** The server answered with a status that is neither a reply nor the absence of one. */
export class HttpStatusError extends HarnessError {
  static override readonly brand = "HttpStatusError";
  readonly kind: FailureKind;

  constructor(
    /** Where, without query and credentials. */
    readonly endpoint: string,
    /** The HTTP status; 0 where a browser hides it (a redirect). */
    readonly status: number,
    /** What the server's `Retry-After` asks for, in milliseconds. */
    readonly retryAfterMs?: number,
    /** The JSON message in the body of an error status, for protocols whose errors may have one. Checked by nothing. */
    readonly document?: unknown,
    /** Why the server forbids it, in its own words. */
    reason = "",
  ) {
    const [code, kind] = codeOfStatus(status);
    const advice = reason === "" ? (adviceOf[code] ?? "") : `: ${displayText(reason, { maxLength: 300 })}`;
    super(code, `${endpoint} answered with status ${status}${advice}`);
    this.kind = kind;
  }
}

/** The server's answer is not a JSON message: another content type (`wrong_content_type`), or not HTTP (`malformed_reply`). */
export class HttpReplyError extends HarnessError {
  static override readonly brand = "HttpReplyError";
  constructor(
    override readonly code: "wrong_content_type" | "malformed_reply",
    message: string,
    options?: { cause?: unknown },
  ) {
    super(code, message, options);
  }
}

/** No secure connection could be made: the server's certificate is not trusted, or it does not speak TLS. */
export class TlsError extends HarnessError<"tls_failed"> {
  static override readonly brand = "TlsError";
  constructor(message: string, options?: { cause?: unknown }) {
    super("tls_failed", message, options);
  }
}

const closeCodes = new Map<number, readonly [code: string, kind: FailureKind]>([
  [1002, ["protocol_violation", "malformed"]],
  [1003, ["unsupported_data", "malformed"]],
  [1007, ["invalid_data", "malformed"]],
  [1008, ["policy_violation", "refused"]],
  [1009, ["message_too_big", "refused"]],
  [1010, ["extension_required", "refused"]],
  [1011, ["server_error", "unavailable"]],
  [1012, ["unavailable", "unavailable"]],
  [1013, ["unavailable", "unavailable"]],
  [1014, ["unavailable", "unavailable"]],
]);

/**
 * A WebSocket was closed for a reason that is not "done" (RFC 6455, 7.4.1). The codes that only a page may send,
 * 4002 to 4014, stand for 1002 to 1014.
 */
export class WebSocketCloseError extends HarnessError {
  static override readonly brand = "WebSocketCloseError";
  readonly kind: FailureKind;

  constructor(
    readonly closeCode: number,
    /** Which side found the fault. */
    readonly closedBy: "here" | "peer",
    /** The closing side's own words, made safe to show. */
    reason = "",
    options?: { cause?: unknown },
  ) {
    const standard = closeCode >= 4002 && closeCode <= 4014 ? closeCode - 3000 : closeCode;
    const [code, kind] = closeCodes.get(standard) ?? ["closed_by_peer", "refused" as const];
    const words = reason === "" ? "" : `: ${displayText(reason, { maxLength: 123 })}`;
    const closing =
      closedBy === "here" ? "the connection was closed" : "the other side closed the connection";
    super(code, `${closing} with code ${closeCode} (${code})${words}`, options);
    this.kind = kind;
  }
}

const kindOfCode = new Map<string, FailureKind>([
  ["transport_failed", "unavailable"],
  ["tls_failed", "unavailable"],
  ["connection_closed", "unavailable"],
  ["request_timeout", "timed_out"],
  ["request_cancelled", "cancelled"],
  ["invalid_message", "malformed"],
  ["frame_too_large", "malformed"],
  ["wrong_content_type", "malformed"],
  ["malformed_reply", "malformed"],
]);

/**
 * What a rejection of this package's clients says about the other side. Anything unknown is `local`: a bug is no
 * reason to try again.
 */
export const failureKindOf = (error: unknown): FailureKind => {
  if (HttpStatusError.isInstance(error) || WebSocketCloseError.isInstance(error)) return error.kind;
  if (!HarnessError.isInstance(error)) return "local";
  return kindOfCode.get(error.code) ?? "local";
};
