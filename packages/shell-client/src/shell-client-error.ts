import { HarnessError } from "@harnesskit/wire";

/** Why a call has no answer of the engine that could be used, or was not sent. */
export type ShellClientErrorCode =
  /** What the caller gave cannot be sent; `reason` and `path` say what and where. Nothing was sent. */
  | "invalid_request"
  /** `maxInFlight` calls are under way, or the transport has too many. Nothing was sent. */
  | "overloaded"
  /** The message is too large for the transport. Nothing was sent. */
  | "unsendable"
  /** The engine cannot be reached, or broke off. */
  | "engine_unreachable"
  /** No answer within `timeoutMs`. */
  | "response_timeout"
  /** The credentials are none that the engine takes. */
  | "unauthorized"
  /** The credentials do not allow it. */
  | "forbidden"
  /** The engine's transport takes no such message, or is not to be trusted. */
  | "engine_refused"
  /** What came back is no response to the request; `reason` says why. Nothing of it was carried out. */
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
  | "id_too_long"
  | "too_many_attachments"
  | "inline_attachment"
  | "no_reference"
  | "too_many_directives"
  | "too_many_denials"
  | "other_request_id"
  | "no_response";

export interface ShellClientErrorOptions {
  readonly reason?: ShellClientErrorReason;
  readonly path?: string;
  /** @default false */
  readonly retryable?: boolean;
  readonly cause?: unknown;
}

/** A call that the engine did not answer usably, or that was not sent. */
export class ShellClientError extends HarnessError {
  override readonly name = "ShellClientError";
  declare readonly code: ShellClientErrorCode;
  /** Whether the same call may do better later. */
  readonly retryable: boolean;
  readonly reason?: ShellClientErrorReason;
  /** Where in the message, as `request.context.attachments.0`. */
  readonly path?: string;

  constructor(code: ShellClientErrorCode, message: string, options: ShellClientErrorOptions = {}) {
    const { reason, path, retryable = false, cause } = options;
    super(code, message, cause === undefined ? undefined : { cause });
    this.retryable = retryable;
    if (reason !== undefined) this.reason = reason;
    if (path !== undefined) this.path = path;
  }

  static override isInstance(value: unknown): value is ShellClientError {
    return HarnessError.isInstance(value) && value.name === "ShellClientError";
  }
}

/** Why a call is over whose signal aborted: its caller gave up, or the client was closed. */
export const givenUp = ({ reason }: { readonly reason: unknown }): ShellClientError =>
  ShellClientError.isInstance(reason)
    ? reason
    : new ShellClientError("cancelled", "the call was given up", { cause: reason });
