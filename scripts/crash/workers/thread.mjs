import { must } from "../violation.mjs";
import { persist } from "./conversation.mjs";

/** How long a request may be refused. */
const patienceMs = 40_000;

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** The client of one thread: it starts one turn after the other at any worker, and repeats a request until it is answered. */
export class ThreadClient {
  counts = { turns: 0, events: 0 };
  #threadId;
  #requests = [];
  #pool;
  #store;

  constructor({ pool, store }) {
    this.#pool = pool;
    this.#store = store;
  }

  async open() {
    while (this.#threadId === undefined) {
      const { result } = await this.#pool.call("thread");
      this.#threadId = result ?? undefined;
    }
  }

  async run(name) {
    this.#requests.push(name);
    const patience = this.#pool.patience(patienceMs);
    for (;;) {
      const answer = await this.#pool.call("append", this.#threadId, name);
      if (answer.result?.result?.turnId !== undefined) break;
      must(
        !patience.isOver(),
        `the request ${name} was never answered: ${JSON.stringify(answer)}\n${this.#pool.logs}`,
      );
      await pause(50);
    }
    patience.end();
    this.counts.turns++;
  }

  async #events() {
    const events = [];
    for await (const event of this.#store.threads.events(this.#threadId)) events.push(event);
    return events;
  }

  /** No event is missing, doubled or out of order; each request has one turn, and each turn but the last one end. */
  async check() {
    if (this.#threadId === undefined) return;
    const events = await persist(() => this.#events());
    this.counts.events = events.length;
    for (const [index, { seq }] of events.entries()) {
      must(seq === index + 1, `${this.#threadId} has event ${seq} at place ${index + 1}`);
    }
    const started = events.filter(({ type }) => type === "turn.started").map(({ data }) => data);
    for (const name of this.#requests) {
      const count = started.filter(({ turn }) => turn.clientRequestId === name).length;
      must(count === 1, `${name} has started ${count} turns`);
    }
    for (const { turnId } of started.slice(0, -1)) {
      const ends = events.filter(
        ({ type, data }) => (type === "turn.completed" || type === "turn.error") && data.turnId === turnId,
      );
      must(ends.length === 1, `the turn ${turnId} has ${ends.length} ends`);
    }
  }
}
