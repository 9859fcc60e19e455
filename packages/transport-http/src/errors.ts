import { displayText, HarnessError } from "@harnesskit/wire";

const statusCodes = new Map<number, string>([
  [400, "bad_request"],
  [401, "unauthorized"],
  [403, "forbidden"],
  [404, "not_found"],
  [405, "method_not_allowed"],
  [408, "unavailable"],
  [413, "request_too_large"],
  [415, "unsupported_media_type"],
  [429, "unavailable"],
  [502, "unavailable"],
  [503, "unavailable"],
  [504, "unavailable"],
]);

const codeOfStatus = (status: number): string => {
  const known = statusCodes.get(status);
  if (known) return known;
  if (status === 0 || (status >= 300 && status < 400)) return "redirect_refused";
  if (status >= 400 && status < 500) return "bad_request";
  return status >= 500 ? "server_error" : "unexpected_status";
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
    const code = codeOfStatus(status);
    const advice = reason === "" ? (adviceOf[code] ?? "") : `: ${displayText(reason, { maxLength: 300 })}`;
    super(code, `${endpoint} answered with status ${status}${advice}`);
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

const closeCodes = new Map<number, string>([
  [1002, "protocol_violation"],
  [1003, "unsupported_data"],
  [1007, "invalid_data"],
  [1008, "policy_violation"],
  [1009, "message_too_big"],
  [1010, "extension_required"],
  [1011, "server_error"],
  [1012, "unavailable"],
  [1013, "unavailable"],
  [1014, "unavailable"],
]);

/**
 * A WebSocket was closed for a reason that is not "done" (RFC 6455, 7.4.1). The codes that only a page may send,
 * 4002 to 4014, stand for 1002 to 1014.
 */
export class WebSocketCloseError extends HarnessError {
  static override readonly brand = "WebSocketCloseError";

  constructor(
    readonly closeCode: number,
    /** Which side found the fault. */
    readonly closedBy: "here" | "peer",
    /** The closing side's own words, made safe to show. */
    reason = "",
    options?: { cause?: unknown },
  ) {
    const standard = closeCode >= 4002 && closeCode <= 4014 ? closeCode - 3000 : closeCode;
    const code = closeCodes.get(standard) ?? "closed_by_peer";
    const words = reason === "" ? "" : `: ${displayText(reason, { maxLength: 123 })}`;
    const closing =
      closedBy === "here" ? "the connection was closed" : "the other side closed the connection";
    super(code, `${closing} with code ${closeCode} (${code})${words}`, options);
  }
}
