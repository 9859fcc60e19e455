import type { EventBody } from "@harnesskit/protocol/threads";
import { messageIn } from "./answer-output.ts";

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
