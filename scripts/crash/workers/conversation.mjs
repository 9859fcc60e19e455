import { must } from "../violation.mjs";

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
/** How long what a dead worker has left may take to be settled. */
const patienceMs = 40_000;

/** Retries what a store that fails for a while refuses. */
export const persist = async (work) => {
  const untilMs = Date.now() + 5 * patienceMs;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (Date.now() > untilMs) throw error;
      await pause(100);
    }
  }
};

/** The client of one session: it says one thing after the other, to any worker, and knows in the end what became of each. */
export class Conversation {
  /** Each message with what became of it: `applied`, or `ambiguous` where its effect may have happened. */
  ledger = [];
  counts = { messages: 0, signals: 0, retried: 0, ambiguous: 0 };
  #id;
  #pool;
  #store;
  #random;

  /** @param store the stores of the driver, in which nothing dies */
  constructor({ id, pool, store, random }) {
    this.#id = id;
    this.#pool = pool;
    this.#store = store;
    this.#random = random;
  }

  async history() {
    const session = await persist(() => this.#store.graph.sessions.load(this.#id));
    return session === null
      ? []
      : JSON.parse(JSON.stringify(session.state.messages)).map(({ content }) => content);
  }

  /** Settles when no worker has left anything of the session; the ends that were kept for the client. */
  async #settled() {
    const { graph } = this.#store;
    const patience = this.#pool.patience(patienceMs);
    for (;;) {
      const recovery = await this.#pool.call("recover", this.#id);
      const runs = await persist(() => graph.runs.list({ sessionId: this.#id }));
      const waiting = await persist(() =>
        graph.suspensions.list({ sessionId: this.#id, status: "suspended" }),
      );
      // What a withdrawn signal had begun goes on with the next one.
      const isOver = runs.every(({ signal_payload: payload }) => payload !== null);
      if (isOver && waiting.every(({ signal }) => signal === null)) break;
      const left = JSON.stringify({ runs, waiting, recovery });
      must(
        !patience.isOver(),
        `session ${this.#id}: what a dead worker has left is not settled: ${left}\n${this.#pool.logs}`,
      );
      await pause(50);
    }
    patience.end();
    const ended = await persist(() => graph.suspensions.list({ sessionId: this.#id, isDelivered: false }));
    for (const { invocation_id: invocationId } of ended) {
      await persist(() => graph.suspensions.save({ kind: "patch", invocationId, isDelivered: true }));
    }
    return ended.map(({ result }) => result);
  }

  /** Says something until it is known what became of it. */
  async say(text) {
    this.counts.messages++;
    const isAsking = text.startsWith("ask");
    for (;;) {
      const answer = await this.#pool.call(isAsking ? "suspend" : "turn", this.#id, text);
      if (answer.result?.outcome === "completed" || answer.result?.outcome === "suspended") break;
      const ends = await this.#settled();
      if ((await this.history()).includes(text)) break;
      if (
        answer.result?.category === "node_ambiguous" ||
        ends.some((end) => end?.error_category === "node_ambiguous")
      ) {
        return this.#note(text, "ambiguous");
      }
      this.counts.retried++;
    }
    if (isAsking) await this.#answer(text);
    else this.#note(text, "applied");
  }

  /** Gives the answer at one worker or at two at once, until it is known what became of it. */
  async #answer(text) {
    const { graph } = this.#store;
    this.counts.signals++;
    for (;;) {
      const found = await persist(() => graph.suspensions.list({ signalId: `go ${text}` }));
      must(found.length === 1, `${found.length} turns wait for the answer to ${text}`);
      const [{ status, result }] = found;
      if (status === "errored") {
        must(result?.error_category === "node_ambiguous", `${text} failed: ${JSON.stringify(result)}`);
        return this.#note(text, "ambiguous");
      }
      if (status === "completed") return this.#note(text, "applied");
      const times = this.#random.chance(0.5) ? 1 : 2;
      const answers = await Promise.all(
        Array.from({ length: times }, () => this.#pool.call("resume", `go ${text}`)),
      );
      const resumed = answers.filter((answer) => answer.result?.outcome === "resumed").length;
      must(resumed <= 1, `${text} was resumed ${resumed} times`);
      await this.#settled();
    }
  }

  #note(text, fate) {
    if (fate === "ambiguous") this.counts.ambiguous++;
    this.ledger.push({ text, fate });
  }

  /** Compares the ledger with what is stored, and with what has happened outside. */
  async check(effects) {
    await this.#settled();
    const history = await this.history();
    const isAsk = (text) => text.startsWith("ask");
    const expected = this.ledger.flatMap(({ text, fate }) => {
      if (fate === "applied") return [text, `heard ${text}`, `did ${text}`];
      // The pause of a turn is kept where its end is ambiguous.
      return isAsk(text) && history.includes(text) ? [text, `heard ${text}`] : [];
    });
    must(
      JSON.stringify(history) === JSON.stringify(expected),
      `session ${this.#id} has ${JSON.stringify(history)}, not ${JSON.stringify(expected)}`,
    );
    for (const { text, fate } of this.ledger) {
      const count = effects.filter((line) => line === text).length;
      must(fate === "applied" ? count === 1 : count <= 1, `${text} (${fate}) happened ${count} times`);
    }
  }
}
