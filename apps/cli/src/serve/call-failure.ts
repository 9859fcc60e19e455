import type { CallResult } from "@harnesskit/core-runtime";
import type { JsonValue } from "@harnesskit/protocol/envelope";
import { ToolError } from "@harnesskit/thread-server";

type Failure = Exclude<CallResult, { status: "succeeded" }>;

/** After these nobody knows how far a call came that the agent had. */
const openEnds: ReadonlySet<string> = new Set(["agent.lost", "core.closed", "protocol.invalid_message"]);

/**
 * What the thread is told of a call that failed: cancelled, timed out, refused, unavailable and lost keep codes of their
 * own. `wasRun` for a call that may have had an effect; `output` is what it had produced.
 */
export const toToolError = (
  { error }: Failure,
  { wasRun, output }: { readonly wasRun: boolean; readonly output?: JsonValue | undefined },
): ToolError => {
  const more = output === undefined ? {} : { output };
  const { code, message, where } = error;
  if (code === "tool.canceled") return new ToolError("tool.cancelled", "The call was cancelled.", more);
  // A tool of the agent says this of a file; the core says it of the tool.
  if (code === "tool.not_found" && where === "core") {
    return new ToolError("agent.unavailable", "The process of the tools has no such tool now.", more);
  }
  if (wasRun && openEnds.has(code)) {
    const text = "The process that ran the tool is gone. It may have run, wholly or in part.";
    return new ToolError(code, text, { ...more, mayHaveRun: true });
  }
  return new ToolError(code, message, more);
};
