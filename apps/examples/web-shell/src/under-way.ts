import type { TaskHint } from "@harnesskit/protocol/openharness";
import type { Shelf } from "./access.ts";
import type { Sending } from "./entries.ts";
import { fieldOf, isFields } from "./values.ts";

const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((text) => typeof text === "string" && text.trim() !== "");

/** Remembers what a tab has sent and has no answer to, so that a reload can offer to send it again. */
export class UnderWay {
  readonly #tab: Shelf;
  readonly #key: string;

  constructor(tab: Shelf, conversation: string) {
    this.#tab = tab;
    this.#key = `${conversation}/under-way`;
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
      const intent = fieldOf(found, "intent");
      const requestId = fieldOf(found, "requestId");
      const taskHint = fieldOf(found, "taskHint");
      const attachments = fieldOf(found, "attachments");
      if (typeof intent !== "string" || typeof requestId !== "string") return undefined;
      return {
        intent,
        requestId,
        ...(isFields(taskHint) ? { taskHint: taskHint as TaskHint } : {}),
        ...(isTexts(attachments) ? { attachments } : {}),
      };
    } catch {
      return undefined;
    }
  }
}
