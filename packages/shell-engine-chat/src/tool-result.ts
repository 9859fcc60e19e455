import { describeResult } from "@harnesskit/approvals";
import { type CallFailure, failureOfText } from "@harnesskit/chat-harness";
import type { ToolMessage } from "@harnesskit/protocol/chat";
import type { JsonObject } from "@harnesskit/protocol/envelope";
import { type ActionDirective, ShellCapability } from "@harnesskit/protocol/openharness";
import type { ShellCall } from "@harnesskit/shell-engine";
import { displayText } from "@harnesskit/wire";
import { nameMediaInText } from "@harnesskit/wire/model";

/** What became of a call of a tool. */
export interface ToolResult {
  /** Undefined where the call stands in an earlier turn that is not looked at. */
  readonly tool: string | undefined;
  readonly input: JsonObject | undefined;
  readonly callId: string;
  /** As the conversation has it; of an image or a file in it, the size alone. */
  readonly output: string;
  /** Why the call has no result: it was rejected, it failed, it was not run. */
  readonly failure: CallFailure | undefined;
}

/** Says what is shown of a tool's result: one directive, several, or none. */
export type RenderToolResult<Context = unknown> = (
  result: ToolResult,
  call: ShellCall<Context>,
) => ActionDirective | readonly ActionDirective[] | undefined;

/** A call, as far as it is known. */
export type KnownCall = Pick<ToolResult, "tool" | "input">;

export const toToolResult = (
  { content, tool_call_id: callId }: ToolMessage,
  known: KnownCall | undefined,
): ToolResult => ({
  tool: known?.tool,
  input: known?.input,
  callId,
  output: nameMediaInText(content),
  failure: failureOfText(content),
});

/** How much of a result a card shows. */
const maxCardLength = 4_000;
const maxTitleLength = 80;

/**
 * A card with the beginning of a result, for shells that have cards: its title says what came of it, and `collapsed` that the rest
 * can be left closed. Of a call without a result `call` says in `data` which tool it was, and the status and code of its failure.
 */
export const renderAsCard: RenderToolResult = (
  { tool = "tool", input, output, failure },
  { capabilities },
) => {
  if (!capabilities.has(ShellCapability.RichCards)) return undefined;
  const name = displayText(tool, { maxLength: maxTitleLength });
  const text = displayText(failure?.message ?? output, { multiline: true, maxLength: maxCardLength });
  const card =
    failure === undefined
      ? { title: describeResult({ tool, input, output }), data: { text, collapsed: true } }
      : {
          title: `${name} ${failure.status === "failed" ? "failed" : "was not run"}`,
          data: { text, call: { tool, status: failure.status, code: failure.code } },
        };
  return { action_type: "render_ui", payload: { component: "text", ...card } };
};
