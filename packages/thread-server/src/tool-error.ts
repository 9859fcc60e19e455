import type { JsonValue } from "@harnesskit/protocol/envelope";
import { HarnessError } from "@harnesskit/wire";

/**
 * An expected failure of a tool: its message is safe to show to the model and the user.
 * Codes: `tool.invalid_input`, `tool.failed`, `tool.timeout`, `tool.not_found`, `tool.outside_workspace`,
 * `tool.cancelled`, or one of the tool's own.
 */
export class ToolError extends HarnessError {
  override readonly name = "ToolError";
  /** What the tool had produced by then. */
  readonly output?: JsonValue;
  /** Nobody knows whether and how far the tool ran: the call ends as `unknown`. */
  readonly mayHaveRun?: true;

  constructor(
    code: string,
    message: string,
    options: { output?: JsonValue; mayHaveRun?: true; cause?: unknown } = {},
  ) {
    super(code, message, options.cause === undefined ? undefined : { cause: options.cause });
    if (options.output !== undefined) this.output = options.output;
    if (options.mayHaveRun) this.mayHaveRun = true;
  }

  static override isInstance(value: unknown): value is ToolError {
    return HarnessError.isInstance(value) && value.name === "ToolError";
  }
}
