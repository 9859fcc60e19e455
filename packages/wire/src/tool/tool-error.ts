import type { JsonObject, JsonValue } from "@harnesskit/protocol/envelope";
import { HarnessError } from "../errors.ts";

export interface ToolErrorOptions {
  /** What the tool had produced before it failed. @default none */
  readonly output?: JsonValue | undefined;
  /** The tool may have run, wholly or in part: the call ends with an unknown outcome. @default false: it has not run */
  readonly mayHaveRun?: true | undefined;
  /** What a program can use. Must not be secret; left out of a result beyond 16 KiB. */
  readonly details?: JsonObject | undefined;
  /** Whether the same call may succeed when it is repeated. @default false */
  readonly retryable?: boolean | undefined;
  /** Stays in this process. @default none */
  readonly cause?: unknown;
}

/**
 * An expected failure of a tool. The model and the user see its message, which must not be secret. Codes:
 * `tool.invalid_input`, `tool.failed`, `tool.timeout`, `tool.not_found`, `tool.outside_workspace`, `tool.cancelled`, or
 * one of the tool's own, such as `file.not_found`, up to 128 characters.
 */
export class ToolError extends HarnessError {
  static override readonly brand: string = "ToolError";
  readonly output?: JsonValue;
  readonly mayHaveRun?: true;
  readonly details?: JsonObject;
  readonly retryable?: boolean;

  constructor(code: string, message: string, options: ToolErrorOptions = {}) {
    super(code, message, "cause" in options ? { cause: options.cause } : undefined);
    if (options.output !== undefined) this.output = options.output;
    if (options.mayHaveRun) this.mayHaveRun = true;
    if (options.details !== undefined) this.details = options.details;
    if (options.retryable !== undefined) this.retryable = options.retryable;
  }
}
