import type { JsonObject } from "@harnesskit/protocol/envelope";
import { RuntimeErrorCode } from "@harnesskit/protocol/runtime";
import { isoTime } from "@harnesskit/wire/time";
import type { ToolContext } from "@harnesskit/wire/tool";
import { type CallResult, coreResult } from "../call-result.ts";
import type { RunningCore } from "../core.ts";

/** How long a directive for an approved call is in force: longer than its agent may take to be ready. */
const directiveLifetimeMs = 5 * 60_000;

/**
 * The id of a directive for the call that was approved, issued by who approved it, where its tool requires one; or how the
 * call ends.
 */
export const directiveFor = (
  core: RunningCore,
  { id, by }: NonNullable<ToolContext["approval"]>,
  toolId: string,
  input: unknown,
): string | CallResult | undefined => {
  const isRequired = core.tools().some((tool) => tool.tool_id === toolId && tool.requires_directive);
  if (!isRequired) return undefined;
  try {
    const issued = core.directives.issue({
      tool_id: toolId,
      input: input as JsonObject,
      issued_by: { type: "human", id: by.slice(0, 256) || "unknown" },
      until: isoTime(Date.now() + directiveLifetimeMs),
      causation_id: id,
    });
    return issued.id;
  } catch {
    const message = "no directive can be issued for this input: it must be a JSON object of valid Unicode";
    return coreResult(RuntimeErrorCode.DirectiveRequired, message);
  }
};
