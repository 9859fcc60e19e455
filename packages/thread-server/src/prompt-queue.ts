import type { Event, InputPart, QueuedTurn } from "@harnesskit/protocol/threads";

interface Entry {
  readonly seq: number;
  readonly queued: QueuedTurn;
  readonly length: number;
}

/** The prompts of a thread that wait for the end of its active turn, as its log tells. */
export class PromptQueue {
  readonly #entries = new Map<string, Entry>();

  get size(): number {
    return this.#entries.size;
  }

  /** In the order in which they begin: those that interrupted a turn first, otherwise as they came. */
  get list(): QueuedTurn[] {
    const all = [...this.#entries.values()].map(({ queued }) => queued);
    const interrupts = ({ interrupts }: QueuedTurn) => interrupts !== undefined;
    return [...all.filter(interrupts), ...all.filter((queued) => !interrupts(queued))];
  }

  get(turnId: string): QueuedTurn | undefined {
    return this.#entries.get(turnId)?.queued;
  }

  /** Which one begins next but `leaving` ones; undefined for none. */
  next(leaving: ReadonlySet<string>): QueuedTurn | undefined {
    return this.list.find(({ turnId }) => !leaving.has(turnId));
  }

  /** The number of the oldest `turn.queued` but this turn's whose prompt still waits. */
  sinceWithout(turnId: string): number | undefined {
    for (const [id, { seq }] of this.#entries) if (id !== turnId) return seq;
    return undefined;
  }

  /** The characters of all prompts but this turn's. */
  lengthWithout(turnId: string | undefined): number {
    let sum = 0;
    for (const [id, { length }] of this.#entries) if (id !== turnId) sum += length;
    return sum;
  }

  apply(event: Event): void {
    if (event.type === "turn.queued") {
      const { turnId, queued } = event.data;
      this.#entries.set(turnId, { seq: event.seq, queued, length: inputLength(queued) });
    } else if (event.type === "turn.started" || event.type === "turn.dequeued") {
      this.#entries.delete(event.data.turnId);
    }
  }
}

/** The characters of a prompt, as JSON. */
export const inputLength = ({ input }: { readonly input: readonly InputPart[] }): number =>
  JSON.stringify(input).length;
