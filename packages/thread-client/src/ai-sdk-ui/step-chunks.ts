import type { ItemOf } from "@harnesskit/protocol/threads";
import type { ThreadUIMessageChunk } from "./message-types.ts";

type Chunk = ThreadUIMessageChunk;

interface OpenText {
  readonly kind: "text" | "reasoning";
  text: string;
}

/** The texts of a message, and the steps around texts and calls: one for each call of the model. */
export class StepChunks {
  readonly #texts = new Map<string, OpenText>();
  #isOpen = false;
  #hasCall = false;
  #step: number | undefined;

  /** Begins the step of an item, unless it is the one that is open. A step never ends while a text is open. */
  enter(step: number | undefined, kind: "text" | "call"): Chunk[] {
    const isOther = step === undefined ? kind === "text" && this.#hasCall : step !== this.#step;
    const begins = !this.#isOpen || (isOther && this.#texts.size === 0);
    const chunks: Chunk[] = begins ? [...this.close(), { type: "start-step" }] : [];
    if (begins) {
      this.#isOpen = true;
      this.#hasCall = false;
      this.#step = step;
    }
    this.#hasCall ||= kind === "call";
    return chunks;
  }

  /** Ends the step that is open. */
  close(): Chunk[] {
    if (!this.#isOpen) return [];
    this.#isOpen = false;
    return [{ type: "finish-step" }];
  }

  beginText({ itemId, data }: ItemOf<"assistant_message">): Chunk[] {
    if (this.#texts.has(itemId)) return [];
    const kind = data?.reasoning ? "reasoning" : "text";
    const begin = this.enter(data?.step, "text");
    this.#texts.set(itemId, { kind, text: "" });
    return [...begin, { type: `${kind}-start`, id: itemId }, ...this.delta(itemId, data?.text ?? "")];
  }

  delta(itemId: string, delta: string): Chunk[] {
    const open = this.#texts.get(itemId);
    if (!open || delta === "") return [];
    open.text += delta;
    return [{ type: `${open.kind}-delta`, id: itemId, delta }];
  }

  /** The item is whole: what its deltas have not said yet follows. */
  completeText(item: ItemOf<"assistant_message">): Chunk[] {
    const { itemId, data } = item;
    const chunks = this.#texts.has(itemId) ? [] : this.beginText({ ...item, data: undefined });
    const open = this.#texts.get(itemId);
    const whole = data?.text ?? "";
    if (open && whole.startsWith(open.text))
      chunks.push(...this.delta(itemId, whole.slice(open.text.length)));
    return [...chunks, ...this.#endText(itemId)];
  }

  /** Ends the texts that no item completed. */
  endTexts(): Chunk[] {
    return [...this.#texts.keys()].flatMap((itemId) => this.#endText(itemId));
  }

  #endText(itemId: string): Chunk[] {
    const open = this.#texts.get(itemId);
    this.#texts.delete(itemId);
    return open ? [{ type: `${open.kind}-end`, id: itemId }] : [];
  }
}
