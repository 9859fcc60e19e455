import type { JsonObject, JsonValue } from "@harnesskit/protocol/envelope";

/** What running a tool may do. Anything but `read` is asked about by the default gate. */
export type ToolEffects = "read" | "write" | "execute";

/** Where a call runs. */
export interface ToolScope {
  readonly threadId: string;
  /** Absolute path of the thread's directory: the workspace the call is confined to. */
  readonly directory: string;
  /** The `tool_exec` item of the call. */
  readonly itemId: string;
}

/** What a running call may use. */
export interface ToolExecution {
  /** Aborts when the turn is cancelled; the tool stops what it started. */
  readonly signal: AbortSignal;
  /** Streams output while the call runs; shown as `tool_log` items. */
  log(stream: "stdout" | "stderr", text: string): void;
}

/** One call, validated and normalised: exactly what is shown, digested, approved and run. */
export interface PreparedCall {
  readonly input: JsonObject;
  /**
   * What a human judges beside the input, a unified diff for an edit. Untrusted text: display it safely. One that leaves
   * something out says so on a line that begins like `[the diff is cut here`; it cannot be allowed for always.
   */
  readonly preview?: string;
  /**
   * Runs the call once. Returns the output for the model and the log.
   * Throws {@link ToolError} for an expected failure; anything else counts as a failure without detail.
   */
  run(execution: ToolExecution): Promise<JsonValue>;
}

/** A tool that an agent may call. */
export interface Tool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the input, an object schema. */
  readonly inputSchema: JsonObject;
  readonly effects: ToolEffects;
  /** Validates and normalises an input without any effect. Throws {@link ToolError} `tool.invalid_input`. */
  prepare(input: unknown, scope: ToolScope): Promise<PreparedCall>;
}
