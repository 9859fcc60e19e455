import { must } from "../violation.mjs";

/** The client of one session: it says one thing after the other, to any worker, and knows in the end what became of each. */
export class Conversation {
  /** Each message with what became of it: `applied`, or `ambiguous` where its effect may have happened. */
  ledger = [];
  counts = { messages: 0, signals: 0, retried: 0, ambiguous: 0 };
  #id;
  #pool;
  #graph;
  #random;

  /** @param stores the stores of the driver, in which nothing dies */
  constructor({ id, pool, stores, random }) {
    this.#id = id;
    this.#pool = pool;
    this.#graph = stores.graph;
    this.#random = random;
  }

  async #history() {
    const session = await this.#graph.sessions.load(this.#id);
    const messages = session === null ? [] : JSON.parse(JSON.stringify(session.state.messages));
    return messages.map(({ content }) => content);
  }

  /** Settles when no worker has left anything of the session; the ends that were kept for the client. */
  async #settled() {
    const { suspensions, runs } = this.#graph;
    const sessionId = this.#id;
    await this.#pool.insist(
      `what a dead worker has left of session ${sessionId} is not settled`,
      async () => {
        await this.#pool.call("recover", sessionId);
        const left = await runs.list({ sessionId });
        const waiting = await suspensions.list({ sessionId, status: "suspended" });
        // What a withdrawn signal had begun goes on with the next one.
        const isOver = left.every(({ signal_payload: payload }) => payload !== null);
        return (isOver && waiting.every(({ signal }) => signal === null)) || undefined;
      },
    );
    const ended = await suspensions.list({ sessionId, isDelivered: false });
    for (const { invocation_id: invocationId } of ended) {
      await suspensions.save({ kind: "patch", invocationId, isDelivered: true });
    }
    return ended.map(({ result }) => result);
  }

  /** Says something until it is known what became of it. */
  async say(text) {
    this.counts.messages++;
    const isAsking = text.startsWith("ask");
    for (;;) {
      const { result } = await this.#pool.call(isAsking ? "suspend" : "turn", this.#id, text);
      if (result?.outcome === "completed" || result?.outcome === "suspended") break;
      const ends = await this.#settled();
      if ((await this.#history()).includes(text)) break;
      const categories = [result?.category, ...ends.map((end) => end?.error_category)];
      if (categories.includes("node_ambiguous")) return this.#note(text, "ambiguous");
      this.counts.retried++;
    }
    if (isAsking) await this.#answer(text);
    else this.#note(text, "applied");
  }

  /** Gives the answer at one worker or at two at once, until it is known what became of it. */
  async #answer(text) {
    this.counts.signals++;
    for (;;) {
      const found = await this.#graph.suspensions.list({ signalId: `go ${text}` });
      must(found.length === 1, `${found.length} turns wait for the answer to ${text}`);
      const [{ status, result }] = found;
      if (status === "errored") {
        must(result?.error_category === "node_ambiguous", `${text} failed: ${JSON.stringify(result)}`);
        return this.#note(text, "ambiguous");
      }
      if (status === "completed") return this.#note(text, "applied");
      const resume = () => this.#pool.call("resume", `go ${text}`);
      const answers = await Promise.all(this.#random.chance(0.5) ? [resume()] : [resume(), resume()]);
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
  async check(linesIn) {
    await this.#settled();
    const effects = linesIn("effects.txt");
    const history = await this.#history();
    const expected = this.ledger.flatMap(({ text, fate }) => {
      if (fate === "applied") return [text, `heard ${text}`, `did ${text}`];
      // The pause of a turn is kept where its end is ambiguous.
      return text.startsWith("ask") && history.includes(text) ? [text, `heard ${text}`] : [];
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
