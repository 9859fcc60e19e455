import type { EventBody, ItemOf } from "@harnesskit/protocol/threads";
import { safeProse } from "../terminal/prose.ts";
import { note, type Terminal } from "../terminal/terminal.ts";
import type { RunOutput } from "./run-output.ts";

type Message = ItemOf<"assistant_message">;

/** What the model says to the user in an event, begun or whole. */
const messageIn = (event: EventBody): Message | undefined => {
  if (event.type !== "item.started" && event.type !== "item.completed") return undefined;
  const { item } = event.data;
  return item.type === "assistant_message" && !item.data?.reasoning ? item : undefined;
};

/**
 * Writes the answer of a turn to `answer`, for a program that reads it: what the model said after its last tool call, once the turn
 * is completed. What it said before, and what it said in a turn that did not complete, is shown by `shown` like everything else.
 */
export const createAnswerOutput = (answer: Terminal, shown: RunOutput): RunOutput => {
  /** What may be the answer. */
  const held: { readonly event: EventBody; readonly message: Message }[] = [];
  const open = new Set<string>();
  const release = () => {
    for (const { event } of held.splice(0)) shown.event(event);
  };
  const write = () => {
    const messages = held.splice(0).map(({ message }) => message);
    const texts = messages.map(({ data }) => data?.text.trim() ?? "").filter((text) => text !== "");
    if (texts.length > 0) answer.write(`${safeProse(texts.join("\n\n"))}\n`);
    if (messages.some(({ data }) => data?.truncated)) note("harness run: the answer was cut by the server");
  };
  return {
    event(event) {
      const message = messageIn(event);
      if (message !== undefined) {
        if (event.type === "item.completed") held.push({ event, message });
        else open.add(message.itemId);
        return;
      }
      if (event.type === "item.delta" && open.has(event.data.itemId)) return;
      if (event.type === "turn.completed" && event.data.status === "completed") write();
      const isCall = event.type === "item.started" && event.data.item.type === "tool_exec";
      // A step is recorded behind what the model said in it, and does not end that.
      if (isCall || (event.type.startsWith("turn.") && event.type !== "turn.step")) release();
      shown.event(event);
    },
    summary: (summary) => shown.summary(summary),
  };
};

/** What the model said after its last tool call, as the events of a turn tell it. */
export class LastAnswer {
  #texts: string[] = [];

  observe(event: EventBody): void {
    const isCall = event.type === "item.started" && event.data.item.type === "tool_exec";
    if (isCall || event.type === "turn.started") this.#texts = [];
    const text = event.type === "item.completed" ? messageIn(event)?.data?.text.trim() : undefined;
    if (text) this.#texts.push(text);
  }

  /** "" where it said nothing. */
  get text(): string {
    return this.#texts.join("\n\n");
  }
}
