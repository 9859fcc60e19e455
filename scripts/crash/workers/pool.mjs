import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { bundleOf } from "../bundle.mjs";
import { Violation } from "../violation.mjs";

/** What workers die in by turns. Any other work is what renews leases and settles what dead ones have left. */
const operations = ["turn", "suspend", "resume", "append"];
/** How often a worker dies in any step at all. */
const anyPart = 0.1;
const program = new URL("worker.mjs", import.meta.url);
/** Steps until a worker dies, at most: of one operation, and of any. */
const maxSteps = { one: 16, any: 60 };
/** Attempts that a client makes at least. */
const minAttempts = 20;

/** Workers of one place, each of which is started again when it has died. */
export class Pool {
  /** How often something died at which step, by `operation before|after step`. */
  deaths = new Map();
  /** How many clients wait so long that workers which start now live on. */
  #calls = 0;
  /** When a worker was last started. */
  #startedMs = 0;
  #workers = [];
  #place;
  #random;
  #left;
  #isClosing = false;

  /** @param {{ place: object, random: import("../random.mjs").Random, kills: number, count?: number }} options */
  constructor({ place, random, kills, count = 3 }) {
    this.#place = place;
    this.#random = random;
    this.#left = kills;
    this.#workers = Array.from({ length: count }, () => undefined);
  }

  /** How many are still to die. */
  get left() {
    return this.#left;
  }

  /** How much longer each time is than on a quiet machine. */
  get slowness() {
    return this.#place.patience;
  }

  async open() {
    await Promise.all(this.#workers.map((_, index) => this.#start(index)));
  }

  get #mayArm() {
    return this.#left > 0 && this.#calls === 0;
  }

  /** The operation in which the fewest have died. */
  #rarest() {
    const counts = operations.map((operation) =>
      [...this.deaths].reduce((sum, [label, count]) => sum + (label.startsWith(operation) ? count : 0), 0),
    );
    const fewest = Math.min(...counts);
    return this.#random.pick(operations.filter((_, index) => counts[index] === fewest));
  }

  /** The step at which a worker dies. */
  #death() {
    const operation = this.#random.chance(anyPart) ? undefined : this.#rarest();
    const after = this.#random.between(1, operation === undefined ? maxSteps.any : maxSteps.one);
    return { operation, after, isBefore: this.#random.chance(0.5) };
  }

  async #start(index) {
    const isArmed = this.#mayArm;
    const armed = isArmed ? this.#death() : { after: -1, isBefore: true };
    const script = await bundleOf(program);
    const child = spawn(process.execPath, [script, JSON.stringify(this.#place), JSON.stringify(armed)], {
      stdio: ["pipe", "pipe", "pipe"],
    });
    const worker = { child, waiting: new Map(), lastId: 0, isReady: false, isArmed };
    this.#workers[index] = worker;
    let log = "";
    child.stderr.setEncoding("utf8").on("data", (text) => {
      log = `${log}${text}`.slice(-4000);
      worker.log = log;
    });
    child.stdin.on("error", () => {});
    createInterface({ input: child.stdout }).on("line", (line) => {
      const answer = JSON.parse(line);
      if (answer.id === 0) worker.isReady = true;
      worker.waiting.get(answer.id)?.(answer);
      worker.waiting.delete(answer.id);
    });
    worker.ready = new Promise((resolve) => worker.waiting.set(0, resolve));
    worker.closed = once(child, "close").then(async ([code, signal]) => {
      for (const resolve of worker.waiting.values()) resolve({ died: true });
      worker.waiting.clear();
      if (this.#isClosing) return;
      const label = /^died (.*)$/m.exec(log)?.[1];
      if (signal === "SIGKILL" && label !== undefined) {
        this.deaths.set(label, (this.deaths.get(label) ?? 0) + 1);
        this.#left--;
      } else if (worker.isReady) {
        this.failure ??= new Violation(`a worker ended by itself (${code ?? signal}): ${log}`);
      } else await new Promise((resolve) => setTimeout(resolve, 200));
      await this.#start(index);
    });
    await worker.ready;
    this.#startedMs = Date.now();
  }

  /**
   * Counts the attempts of a client that waits for one thing. After a quarter of the time, workers that start live on; the time and
   * the attempts that are too much count from the last start of a worker, so that neither deaths nor a busy machine use them up.
   */
  patience(quietMs) {
    const limitMs = quietMs * this.slowness;
    const beganMs = Date.now();
    let isCalling = false;
    let attempts = 0;
    let sinceMs = beganMs;
    return {
      /** Counts an attempt in vain. True if there were too many. */
      isOver: () => {
        if (!isCalling && Date.now() - beganMs > limitMs / 4) {
          isCalling = true;
          this.#calls++;
        }
        if (this.#startedMs > sinceMs) {
          sinceMs = this.#startedMs;
          attempts = 0;
        }
        return ++attempts > minAttempts && Date.now() - sinceMs > limitMs;
      },
      end: () => {
        if (isCalling) this.#calls--;
        if (!this.#mayArm) return;
        for (const worker of this.#workers.filter(({ isArmed }) => !isArmed)) {
          worker.isArmed = true;
          void this.#send(worker, "arm", [this.#death()]);
        }
      },
    };
  }

  /** Has one worker do something: its answer, or `{ died: true }`. */
  async call(op, ...args) {
    if (this.failure !== undefined) throw this.failure;
    return this.#send(this.#random.pick(this.#workers), op, args);
  }

  async #send(worker, op, args) {
    await worker.ready;
    if (worker.child.exitCode !== null || worker.child.signalCode !== null) return { died: true };
    const id = ++worker.lastId;
    const answered = new Promise((resolve) => worker.waiting.set(id, resolve));
    worker.child.stdin.write(`${JSON.stringify({ id, op, args })}\n`);
    return answered;
  }

  /** What the workers that live have reported. */
  get logs() {
    return this.#workers.map(({ log = "" }) => log.slice(-1000)).join("\n---\n");
  }

  async close() {
    this.#isClosing = true;
    for (const { child } of this.#workers) child.kill("SIGKILL");
    await Promise.all(this.#workers.map(({ closed }) => closed));
  }
}
