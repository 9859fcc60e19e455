import { HarnessError } from "@harnesskit/wire";

/**
 * `target_refused`: the target answered with an error, or with a redirect; `target_gone`: it says that it is not there (404, 410); `target_unreachable`: it could not be reached, or
 * its command could not be started; `target_timeout`: it did not answer in time; `invalid_config`: the configuration is not valid.
 */
export type NotifyErrorCode =
  | "target_refused"
  | "target_gone"
  | "target_unreachable"
  | "target_timeout"
  | "invalid_config";

/** A notice could not be delivered, or a configuration could not be read. Its message never holds an address or a secret. */
export class NotifyError extends HarnessError<NotifyErrorCode> {
  static override readonly brand = "NotifyError";

  constructor(
    code: NotifyErrorCode,
    message: string,
    options: { readonly cause?: unknown; readonly isFinal?: boolean; readonly retryAfterMs?: number } = {},
  ) {
    super(code, message, "cause" in options ? { cause: options.cause } : undefined);
    this.isFinal = options.isFinal ?? false;
    this.retryAfterMs = options.retryAfterMs ?? 0;
  }

  /** Whether trying again changes nothing. */
  readonly isFinal: boolean;
  /** How long the target asks to wait, in milliseconds; 0 where it does not say. */
  readonly retryAfterMs: number;
}
