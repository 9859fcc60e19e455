import type { JsonObject } from "@harnesskit/protocol/envelope";
import { HarnessError } from "@harnesskit/wire";

export interface ShellEngineErrorOptions {
  /** True: the same request may be sent again, later. @default false */
  readonly retryable?: boolean | undefined;
  /** Safe for logs, and for the shell. @default none */
  readonly details?: JsonObject | undefined;
  readonly cause?: unknown;
}

/**
 * A failure whose code, message and details are meant for the shell. A handler throws one to say why it failed; whatever
 * else it throws is answered with `internal_error`, and the shell learns nothing of it. The code is of small letters, digits,
 * `_` and `.`; neither a path nor a secret belongs in the others.
 */
export class ShellEngineError extends HarnessError {
  static override readonly brand = "ShellEngineError";
  readonly retryable: boolean;
  readonly details: JsonObject | undefined;

  constructor(code: string, message: string, options: ShellEngineErrorOptions = {}) {
    super(code, message, options);
    this.retryable = options.retryable ?? false;
    this.details = options.details;
  }
}
