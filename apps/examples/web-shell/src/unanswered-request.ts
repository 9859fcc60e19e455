import type { TaskHint } from "@harnesskit/protocol/openharness";
import { cardField } from "@harnesskit/shell-client/cards";
import { isObject } from "@harnesskit/wire/json";
import type { Shelf } from "./access.ts";
import type { Sending } from "./entries.ts";

const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((text) => typeof text === "string" && text.trim() !== "");

/** Remembers what a tab has sent and has no answer to, so that a reload can offer to send it again. */
export class UnansweredRequest {
  readonly #tab: Shelf;
  readonly #key: string;

  constructor(tab: Shelf, conversation: string) {
    this.#tab = tab;
    this.#key = `${conversation}/unanswered`;
  }

  put(sending: Sending): void {
    try {
      this.#tab.setItem(this.#key, JSON.stringify(sending));
    } catch {
      // A browser that keeps nothing more still sends.
    }
  }

  clear(): void {
    this.#tab.removeItem(this.#key);
  }

  /** What was left, once. */
  take(): Sending | undefined {
    const text = this.#tab.getItem(this.#key);
    this.clear();
    try {
      const found: unknown = JSON.parse(text ?? "null");
      const intent = cardField(found, "intent");
      const requestId = cardField(found, "requestId");
      const taskHint = cardField(found, "taskHint");
      const attachments = cardField(found, "attachments");
      if (typeof intent !== "string" || typeof requestId !== "string") return undefined;
      return {
        intent,
        requestId,
        taskHint: isObject(taskHint) ? (taskHint as TaskHint) : undefined,
        attachments: isTexts(attachments) ? attachments : undefined,
      };
    } catch {
      return undefined;
    }
  }
}
