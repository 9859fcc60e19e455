import type { AssistantMessage, ChatMessage } from "@harnesskit/protocol/chat";
import { type ActionDirective, fallbackTextOf } from "@harnesskit/protocol/openharness";
import { displayText } from "@harnesskit/wire";
import { defined, jsonLength } from "@harnesskit/wire/json";
import { type KnownCall, type ToolResult, toToolResult } from "./tool-result.ts";

/** What one part of a turn may take of a response: the defaults of the engine's limits leave room for two of them and a question. */
const maxDirectives = 100;
const maxLength = 400_000;

/** Text for the user, as it is sent: so that its length is known. */
export const say = (text: string, format?: "markdown"): ActionDirective => ({
  action_type: "render_message",
  payload: defined({ message: text, text, format }),
});

const spokenText = ({ content = "" }: AssistantMessage): string => {
  if (typeof content === "string") return content;
  return content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n\n");
};

const isMessage = ({ action_type }: ActionDirective): boolean => action_type === "render_message";

/** Whether directives are more than one part of a response may have. */
export const isLong = (directives: readonly ActionDirective[]): boolean =>
  directives.length > maxDirectives || jsonLength(directives) > maxLength;

/** A long turn in few directives: what was said in one, marked as the last of it was, and of the cards those that came last. */
export const shortened = (directives: readonly ActionDirective[]): ActionDirective[] => {
  const messages = directives.filter(isMessage);
  const words = messages.map((message) => fallbackTextOf(message) ?? "");
  // It is sent twice: as `message` and as `text`.
  const text = displayText(words.join("\n\n"), { multiline: true, maxLength: maxLength / 4 });
  const { extensions } = messages.at(-1) ?? {};
  const cards: ActionDirective[] = [];
  let left = maxLength / 2;
  for (const card of directives.filter((directive) => !isMessage(directive)).reverse()) {
    left -= jsonLength(card);
    if (left < 0 || cards.length === maxDirectives - 1) break;
    cards.unshift(card);
  }
  return text === "" ? cards : [...cards, { ...say(text, "markdown"), extensions }];
};

/**
 * What a shell shows of the messages of a turn: what the assistant said, and of the results of tools what `render` makes of
 * them. What the model thought, and what the user said, is not in it.
 */
export const turnDirectives = (
  messages: readonly ChatMessage[],
  earlier: ReadonlyMap<string, KnownCall>,
  render: (result: ToolResult) => ActionDirective | readonly ActionDirective[] | undefined,
): ActionDirective[] => {
  const calls = new Map(earlier);
  const directives = messages.flatMap((message): readonly ActionDirective[] => {
    if (message.role === "tool") {
      const made = render(toToolResult(message, calls.get(message.tool_call_id)));
      if (made === undefined) return [];
      return Array.isArray(made) ? (made as readonly ActionDirective[]) : [made as ActionDirective];
    }
    if (message.role !== "assistant") return [];
    for (const { id, name, arguments: input } of message.tool_calls ?? [])
      calls.set(id, { tool: name, input });
    const text = spokenText(message);
    return text.trim() === "" ? [] : [say(text, "markdown")];
  });
  return isLong(directives) ? shortened(directives) : directives;
};
