import type { JsonValue } from "@harnesskit/protocol/envelope";
import { ToolError } from "@harnesskit/wire/tool";
import type { CallResult } from "../call-result.ts";

/** After these it is unknown how far a call came that the agent had received. */
const openEnds: ReadonlySet<string> = new Set(["agent.lost", "core.closed", "protocol.invalid_message"]);

/** The failure of a call: cancelled, timed out, refused, unavailable and lost keep codes of their own. */
export const failureOf = (
  { error }: Exclude<CallResult, { status: "succeeded" }>,
  { wasRun, output }: { readonly wasRun: boolean; readonly output?: JsonValue | undefined },
): ToolError => {
  const more = output === undefined ? {} : { output };
  const { code, message, where } = error;
  if (code === "tool.canceled") return new ToolError("tool.cancelled", "The call was cancelled.", more);
  // An agent's tools may use these codes for what they work on, the core uses them for the tool.
  if (code === "tool.not_found" && where === "core") {
    return new ToolError("agent.unavailable", "The process of the tools has no such tool now.", more);
  }
  if (code === "tool.changed" && where === "core") {
    return new ToolError(code, "The tool is declared otherwise since it was shown; it was not run.", more);
  }
  if (wasRun && openEnds.has(code)) {
    const text = "The process that ran the tool is gone. It may have run, wholly or in part.";
    return new ToolError(code, text, { ...more, mayHaveRun: true });
  }
  // The tool says so itself.
  const mayHaveRun = wasRun && error.details?.may_have_run === true;
  return new ToolError(code, message, { ...more, mayHaveRun: mayHaveRun || undefined });
};
