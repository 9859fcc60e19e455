import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { must, Violation } from "../violation.mjs";

/** What workers die in by turns. Any other work is what renews leases and settles what dead ones have left. */
const operations = ["turn", "suspend", "resume", "append"];
/** How often a worker dies in any step at all. */
const anyPart = 0.1;
const program = fileURLToPath(new URL("worker.mjs", import.meta.url));
/** Steps until a worker dies, at most: of an operation, and of any. An append is a whole turn of a thread. */
const maxSteps = { turn: 16, suspend: 16, resume: 16, append: 60, any: 60 };
/** How often a worker sleeps as it is called, and how long: longer than a lease. */
const sleeps = 0.01;
const sleepMs = 2500;
/** How long what a client waits for may take on a quiet machine, and after how long workers that start live on. */
const patienceMs = 120_000;
const calmAfterMs = 10_000;

/** Three workers of one place, each of which is started again when it has died. */
export class Pool {
  /** How often something died at which step, by `operation before|after step`. */
  deaths = new Map();
  /** How many are still to die. */
  left;
  /** The ids of the processes that were stopped for longer than a lease. */
  slept = new Set();
  /** How many clients wait so long that workers which start now live on. */
  #calm = 0;
  #workers = [];
  #place;
  #random;
  #isClosing = false;

  /** @param {{ place: object, random: import("../random.mjs").Random, kills: number }} options */
  constructor({ place, random, kills }) {
    this.#place = place;
    this.#random = random;
    this.left = kills;
  }

  async open() {
    await Promise.all([0, 1, 2].map((index) => this.#start(index)));
  }

  /** The operation in which the fewest have died. */
  #rarest() {
    const counts = operations.map((operation) =>
      [...this.deaths].reduce((sum, [label, count]) => sum + (label.startsWith(operation) ? count : 0), 0),
    );
    const fewest = Math.min(...counts);
    return this.#random.pick(operations.filter((_, index) => counts[index] === fewest));
  }

  /** The step at which a worker dies; null for one that lives on. */
  #death() {
    if (this.left <= 0 || this.#calm > 0) return null;
    const operation = this.#random.chance(anyPart) ? undefined : this.#rarest();
    const after = this.#random.between(1, maxSteps[operation ?? "any"]);
    return { operation, after, isBefore: this.#random.chance(0.5) };
  }

  async #start(index) {
    const armed = this.#death();
    const args = [program, JSON.stringify(this.#place), JSON.stringify(armed)];
    const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "pipe"] });
    const worker = { child, armed, waiting: new Map(), lastId: 0, isReady: false, log: "" };
    this.#workers[index] = worker;
    child.stderr.setEncoding("utf8").on("data", (text) => {
      worker.log = `${worker.log}${text}`.slice(-4000);
    });
    child.stdin.on("error", () => {});
    createInterface({ input: child.stdout }).on("line", (line) => {
      const answer = JSON.parse(line);
      if (answer.id === 0) worker.isReady = true;
      worker.waiting.get(answer.id)?.(answer);
      worker.waiting.delete(answer.id);
    });
    worker.ready = new Promise((resolve) => worker.waiting.set(0, resolve));
    worker.closed = once(child, "close").then(([code, signal]) => this.#ended(index, worker, code, signal));
    await worker.ready;
  }

  async #ended(index, { waiting, isReady, log }, code, signal) {
    for (const resolve of waiting.values()) resolve({ died: true });
    waiting.clear();
    if (this.#isClosing) return;
    if (signal === "SIGKILL") {
      const label = /^died (.*)$/m.exec(log)?.[1] ?? "anything at rest";
      this.deaths.set(label, (this.deaths.get(label) ?? 0) + 1);
      this.left--;
    } else if (isReady) {
      this.failure ??= new Violation(`a worker ended by itself (${code ?? signal}): ${log}`);
    } else await sleep(200);
    await this.#start(index);
  }

  /**
   * Repeats `attempt` until it returns something, and returns that. Throws a `Violation` after two minutes; each time is as much longer as
   * this machine is slower than a quiet one. When clients have waited long, workers that start live on until all have what they wait for.
   */
  async insist(what, attempt) {
    const { patience } = this.#place;
    const beganMs = Date.now();
    let isCalm = false;
    try {
      for (;;) {
        const found = await attempt();
        if (found !== undefined) return found;
        const waitedMs = (Date.now() - beganMs) / patience;
        if (waitedMs > calmAfterMs && !isCalm) {
          isCalm = true;
          this.#calm++;
        }
        must(waitedMs < patienceMs, `${what}\n${this.#logs}`);
        await sleep(50);
      }
    } finally {
      if (isCalm && --this.#calm === 0) this.#killCalm();
    }
  }

  /** What was started to live on dies now, so that the deaths go on. */
  #killCalm() {
    if (this.left <= 0) return;
    for (const { child, armed } of this.#workers) if (armed === null) child.kill("SIGKILL");
  }

  /** Has one worker do something: its answer, or `{ died: true }`. */
  async call(op, ...args) {
    if (this.failure !== undefined) throw this.failure;
    const worker = this.#random.pick(this.#workers);
    await worker.ready;
    if (worker.child.exitCode !== null || worker.child.signalCode !== null) return { died: true };
    if (this.left > 0 && this.#random.chance(sleeps)) void this.#putToSleep(worker.child);
    const id = ++worker.lastId;
    const answered = new Promise((resolve) => worker.waiting.set(id, resolve));
    worker.child.stdin.write(`${JSON.stringify({ id, op, args })}\n`);
    return answered;
  }

  /** Where leases end by time, others go on meanwhile with what the worker does. */
  async #putToSleep(child) {
    this.slept.add(child.pid);
    child.kill("SIGSTOP");
    await sleep(sleepMs * this.#place.patience);
    child.kill("SIGCONT");
  }

  /** What the workers that live have reported. */
  get #logs() {
    return this.#workers.map(({ log }) => log.slice(-1000)).join("\n---\n");
  }

  async close() {
    this.#isClosing = true;
    for (const { child } of this.#workers) child.kill("SIGKILL");
    await Promise.all(this.#workers.map(({ closed }) => closed));
  }
}
