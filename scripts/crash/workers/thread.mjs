import { must } from "../violation.mjs";

/** The client of one thread: it starts one turn after the other at any worker, and repeats a request until it is answered. */
export class ThreadClient {
  counts = { turns: 0, events: 0 };
  #threadId;
  #pool;
  #threads;

  constructor({ pool, stores }) {
    this.#pool = pool;
    this.#threads = stores.threads;
  }

  async say(name) {
    this.#threadId ??= await this.#pool.insist("no thread was created", async () => {
      const { result } = await this.#pool.call("thread");
      return result ?? undefined;
    });
    await this.#pool.insist(`the request ${name} was never answered`, async () => {
      const { result } = await this.#pool.call("append", this.#threadId, name);
      return result?.turnId;
    });
    this.counts.turns++;
  }

  /** No event is missing, doubled or out of order; each request has one turn, and each turn but the last one end. */
  async check() {
    if (this.#threadId === undefined) return;
    const ends = new Map();
    const started = [];
    for await (const { seq, type, data } of this.#threads.events(this.#threadId)) {
      const place = ++this.counts.events;
      must(seq === place, `${this.#threadId} has event ${seq} at place ${place}`);
      if (type === "turn.started") started.push(data);
      if (type === "turn.completed" || type === "turn.error")
        ends.set(data.turnId, (ends.get(data.turnId) ?? 0) + 1);
    }
    const names = started.map(({ turn }) => turn.clientRequestId);
    for (let turn = 0; turn < this.counts.turns; turn++) {
      const count = names.filter((name) => name === `thread-${turn}`).length;
      must(count === 1, `thread-${turn} has started ${count} turns`);
    }
    for (const { turnId } of started.slice(0, -1)) {
      must(ends.get(turnId) === 1, `the turn ${turnId} has ${ends.get(turnId) ?? 0} ends`);
    }
  }
}
