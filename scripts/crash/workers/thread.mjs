import { must } from "../violation.mjs";
import { callsOfStep, summariesIn, turnSteps } from "./turn.mjs";

const textOf = (values) => JSON.stringify(values);

/** The client of one thread: it starts one turn after the other at any worker, and repeats a request until it is answered. */
export class ThreadClient {
  counts = { turns: 0, events: 0, summaries: 0, unknown: 0 };
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
    await this.#request(name);
    this.counts.turns++;
  }

  #request(name) {
    return this.#pool.insist(`the request ${name} was never answered`, async () => {
      const { result } = await this.#pool.call("append", this.#threadId, name);
      return result?.turnId;
    });
  }

  async #events() {
    const events = [];
    for await (const event of this.#threads.events(this.#threadId)) events.push(event);
    return events;
  }

  /** The events, once each turn has ended: whichever worker is asked goes on with one that a dead worker has left. */
  #settled() {
    return this.#pool.insist("the last turn has no end", async () => {
      await this.#request(`thread-${this.counts.turns - 1}`);
      const events = await this.#events();
      const isOver = ["turn.completed", "turn.error"].includes(events.at(-1).type);
      return isOver ? events : undefined;
    });
  }

  /**
   * Compares the log with the ledger: no event is missing, doubled or out of order; each request has one turn with one end; what was
   * recorded was not paid again; no effect happened twice, and each that is recorded happened; the model was given no summary in secret.
   */
  async check(linesIn) {
    if (this.counts.turns === 0) return;
    const events = await this.#settled();
    const ledger = linesIn("turns.txt").map((line) => line.split(" "));
    this.counts.events = events.length;
    for (const [index, { seq }] of events.entries())
      must(seq === index + 1, `${this.#threadId} has event ${seq} at place ${index + 1}`);
    for (let turn = 0; turn < this.counts.turns; turn++) this.#checkTurn(`thread-${turn}`, events);
    this.#checkEffects(events, ledger);
    this.#checkPaid(events, ledger);
  }

  #checkTurn(name, events) {
    const isNamed = ({ type, data }) => type === "turn.started" && data.turn.clientRequestId === name;
    const started = events.filter(isNamed);
    must(started.length === 1, `${name} has started ${started.length} turns`);
    const of = (type) =>
      events.filter((event) => event.type === type && event.data.turnId === started[0].data.turnId);
    const ends = [...of("turn.completed"), ...of("turn.error")];
    must(ends.length === 1 && ends[0].data.status === "completed", `${name} ended: ${textOf(ends)}`);
    const steps = of("turn.step").map(({ data }) => data.step);
    must(textOf(steps) === textOf([...Array(turnSteps).keys()]), `the steps of ${name} are ${steps}`);
    const summaries = of("item.completed").filter(({ data }) => data.item.data?.summary).length;
    const { usage } = ends[0].data.turn;
    must(
      usage?.inputTokens === turnSteps + summaries,
      `the usage of ${name} is not that of each step and summary once: ${textOf(usage)}, ${summaries} summaries`,
    );
    const calls = of("item.completed").filter(({ data }) => data.type === "tool_exec").length;
    must(calls === callsOfStep * (turnSteps - 1), `${calls} calls of ${name} ended`);
  }

  #checkEffects(events, ledger) {
    const acts = ledger.filter(([, what]) => what === "act").map(([, , name]) => name);
    must(new Set(acts).size === acts.length, `an effect happened twice: ${acts}`);
    for (const { type, data } of events) {
      const call = type === "item.completed" && data.type === "tool_exec" ? data.item.data : undefined;
      if (call?.status === "unknown") this.counts.unknown++;
      const isMissing =
        call?.status === "succeeded" && call.tool === "act" && !acts.includes(call.input.name);
      must(!isMissing, `${call?.input.name} succeeded and did not happen`);
    }
  }

  /** A worker that slept past its lease may have asked once more, before it knew that another one had gone on. */
  #checkPaid(events, ledger) {
    const told = events
      .filter(({ type, data }) => type === "item.completed" && data.item.data?.summary)
      .flatMap(({ data }) => summariesIn(data.item.data.text));
    must(new Set(told).size === told.length, `a summary is in the log twice: ${told}`);
    this.counts.summaries = told.length;
    const last = new Map();
    const given = new Set(["nothing"]);
    for (const [pid, what, name, step, summary] of ledger) {
      if (this.#pool.slept.has(Number(pid))) continue;
      if (what === "summary") must(!given.has(name), `the summary ${name} was given, and paid again`);
      if (what !== "asked") continue;
      must(Number(step) >= (last.get(name) ?? 0), `step ${step} of ${name} was recorded, and paid again`);
      last.set(name, Number(step));
      must(summary === "nothing" || told.includes(summary), `the model was given ${summary} in secret`);
      given.add(summary);
    }
  }
}
