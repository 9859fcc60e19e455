import { HarnessError } from "@harnesskit/wire";

/**
 * A failure whose text is meant for the agent: it is answered with -32603, "Handler error: " and this message, and
 * `code` stands in `data.reason`. Whatever else a handler throws is answered without its text. Neither a path nor a
 * secret belongs in it.
 */
export class HandlerError extends HarnessError {
  override readonly name = "HandlerError";

  constructor(message: string, options: { readonly code?: string; readonly cause?: unknown } = {}) {
    const { code = "handler_failed", cause } = options;
    super(code, message, cause === undefined ? undefined : { cause });
  }

  static override isInstance(value: unknown): value is HandlerError {
    return HarnessError.isInstance(value) && value.name === "HandlerError";
  }
}
