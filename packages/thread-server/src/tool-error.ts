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

  constructor(code: string, message: string, options: { output?: JsonValue; cause?: unknown } = {}) {
    super(code, message, options.cause === undefined ? undefined : { cause: options.cause });
    if (options.output !== undefined) this.output = options.output;
  }

  static override isInstance(value: unknown): value is ToolError {
    return HarnessError.isInstance(value) && value.name === "ToolError";
  }
}
