import { setTimeout as sleep } from "node:timers/promises";
import { createHubClient, HubError } from "../../../packages/hub/dist/client.js";
import { createUnixTransport } from "../../../packages/transport-uds/dist/index.js";

/** Humans at the hubs: each question is answered by one or two of them, at hubs that chance chooses. */
export class Humans {
  /** Answers that a hub has acknowledged, by approval. */
  acknowledged = new Map();
  /** What the pages have seen: for each hub the last change of each row, and gaps in the order. */
  pages = [];
  problems = [];
  #clients;
  #random;
  #stop = new AbortController();
  #running = [];

  constructor({ places, random }) {
    this.#random = random;
    this.#clients = places.map((place) =>
      createHubClient({
        transport: createUnixTransport({ path: place.apiSocket, framing: "newline" }),
        client: { name: "crash" },
        requestTimeoutMs: 60_000,
        reconnect: { maxAttempts: Number.POSITIVE_INFINITY, initialDelayMs: 10, maxDelayMs: 50 },
      }),
    );
  }

  async open() {
    await Promise.all(this.#clients.map((client) => client.connect({ retry: true })));
    this.#running = this.#clients.flatMap((client) => [this.#answerAll(client), this.#look(client)]);
  }

  async #answer({ id, digest }) {
    const decision = this.#random.chance(0.8) ? "approve" : "reject";
    await sleep(this.#random.next() * 15);
    for (let attempt = 0; attempt < 50 && !this.#stop.signal.aborted; attempt++) {
      const client = this.#random.pick(this.#clients);
      try {
        const { record } = await client.call("inbox.answer", { id, digest, decision }, { timeoutMs: 1000 });
        this.#note(record);
        return;
      } catch (error) {
        // An answer whose acknowledgement was lost may have counted.
        if (HubError.isInstance(error)) return;
        await sleep(10);
      }
    }
  }

  async #answerAll(client) {
    const seen = new Set();
    // At one hub every question is seen; at the others some are answered again, at the same time.
    const share = client === this.#clients[0] ? 1 : 0.2;
    for await (const record of client.watchInbox({ afterSeq: 0, signal: this.#stop.signal })) {
      if (record.status !== "pending" || seen.has(record.id)) continue;
      seen.add(record.id);
      if (this.#random.chance(share)) void this.#answer(record);
    }
  }

  async #look(client) {
    const page = { rows: new Map(), lastSeq: 0 };
    this.pages.push(page);
    for await (const rows of client.watchTimeline({ afterSeq: 0, signal: this.#looking.signal })) {
      for (const { id, seq } of rows) {
        if (seq <= page.lastSeq && page.rows.get(id) !== seq) {
          this.problems.push(`a page saw change ${seq} behind ${page.lastSeq}`);
        }
        page.rows.set(id, seq);
        page.lastSeq = Math.max(page.lastSeq, seq);
      }
    }
  }

  #looking = new AbortController();

  /** Notes an answer that a hub has acknowledged: of each question one. */
  #note({ id, status }) {
    const before = this.acknowledged.get(id);
    if (before !== undefined) this.problems.push(`${id} was acknowledged as ${before} and ${status}`);
    this.acknowledged.set(id, status);
  }

  /** No question is answered any more. */
  stop() {
    this.#stop.abort();
  }

  /** Approvals that are pending, as one of the hubs says. */
  async pending() {
    const { records } = await this.#random.pick(this.#clients).call("inbox.list", { status: "pending" });
    return records.map(({ id }) => id);
  }

  /** Settles when every page has seen this change, or the time is over. */
  async seen(seq) {
    const untilMs = Date.now() + 15_000;
    while (this.pages.some(({ lastSeq }) => lastSeq < seq) && Date.now() < untilMs) await sleep(50);
    this.#looking.abort();
    await Promise.all(this.#running);
  }

  async close() {
    this.#stop.abort();
    this.#looking.abort();
    await Promise.all(this.#clients.map((client) => client.close()));
  }
}
