import { mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { must } from "../crash/violation.mjs";
import { built } from "./built.mjs";
import { Calls } from "./calls.mjs";
import { CoreLife } from "./core-life.mjs";
import { faults, isOfCore } from "./inflict.mjs";
import { processesWith, signal } from "./processes.mjs";
import { Seat } from "./seat.mjs";
import { steps } from "./steps.mjs";
import { waitUntil } from "./wait-until.mjs";

const { readAuditFile, verifyAuditFile } = await import(built.audit);

/** How an open call may end when its agent is struck; a core that was killed leaves it `interrupted`. */
const endsOfOpenCall = new Set(["agent.lost", "core.closed"]);
/** What a call says whose agent does not serve, or no longer. */
const notServing = new Set(["agent.unavailable", "agent.lost"]);
const resting = new Set(["stopped", "crash_loop"]);
const settledStates = new Set([...resting, "ready"]);
const maxAttempts = 20;
const mustBeZero = ["unknownResults", "invalidMessages"];

/**
 * One directory, two agents, and the cores that run them, one after the other: each cell strikes one of the agents, or
 * the core, at one step of the agent's life. After each, what was promised is looked for.
 */
export class Story {
  #random;
  #tally;
  #base = "";
  #sockets = "";
  #auditPath = "";
  #seats = [];
  #calls = new Calls();
  #life;
  #lastRequest = 0;
  #cell;
  /** Directories and launches of cores that are over: no process may have them. */
  #remains = new Set();

  constructor({ random, tally }) {
    this.#random = random;
    this.#tally = tally;
  }

  /** Strikes once for each cell, `{ fault, step }`. Throws a `Violation`. */
  async tell(cells) {
    // Its name is how processes are found: it is in the environment of every agent.
    this.#base = await mkdtemp(join(tmpdir(), "hk-faults-"));
    this.#sockets = join(this.#base, "s");
    this.#auditPath = join(this.#base, "audit.jsonl");
    try {
      await mkdir(this.#sockets, { mode: 0o700 });
      this.#seats = ["one", "two"].map((id) => new Seat({ id, base: this.#base }));
      for (const seat of this.#seats) await seat.make();
      for (const cell of cells) await this.#strike(cell);
      await this.#close();
    } finally {
      await this.#clean();
    }
  }

  async #strike(cell) {
    this.#cell = cell;
    const { fault, step } = cell;
    await this.#begin();
    const random = this.#random;
    const life = this.#life;
    // What is to come back by the policy is the agent whose policy says so.
    const seat = step === "restarting" ? this.#seats[0] : random.pick(this.#seats);
    const makeCall = this.#call.bind(this);
    const scene = { life, seat, fault, random, makeCall, isPlanned: false, delayMs: random.between(0, 15) };
    const open = await steps[step](scene);
    await wait(scene.delayMs);
    this.#traffic();
    await wait(random.between(0, 5));
    const { pid, launchId } = life.agents.get(seat.id);
    const starts = seat.starts;
    if (fault === "busy loop" && step === "idle") this.#call(seat, "busy");
    else if (pid !== undefined) await faults[fault]({ ...scene, pid, launchId });
    // A step that was over before the fault came does not count.
    if (isOfCore(fault) || pid !== undefined) this.#tally.struck(cell);
    if (isOfCore(fault)) {
      await this.#coreDied(fault);
      this.#checkOpen(open, "interrupted");
      await this.#begin();
      this.#tally.restarted(cell, 1);
      return;
    }
    this.#traffic();
    if (life.isClosing) await this.#closed();
    else await this.#recover(launchId);
    this.#checkOpen(open, step === "call being cancelled" ? "tool.canceled" : undefined);
    this.#tally.restarted(cell, seat.starts - starts);
  }

  /** A core with both agents in service, each with a child that left its group. */
  async #begin() {
    if (this.#life) return;
    const [first, second] = this.#seats;
    for (const seat of this.#seats) await seat.plan({ stays: this.#random.chance(0.3) });
    await first.setPolicy(this.#random.pick(["on-failure", "always"]));
    await second.setPolicy(this.#random.pick(["on-failure", "always", "never"]));
    const plan = {
      auditPath: this.#auditPath,
      socketDirectory: this.#sockets,
      directories: this.#seats.map(({ directory }) => directory),
    };
    const life = new CoreLife({ plan, calls: this.#calls });
    this.#life = life;
    await life.until("the core to start", () => life.socketPath !== undefined);
    const directories = await readdir(this.#sockets);
    const own = basename(dirname(life.socketPath));
    must(directories.join() === own, `a core found ${directories.join(", ")}; its own is ${own}`);
    await this.#untilNothingOf([...this.#remains], "of a core before");
    for (const seat of this.#seats) await this.#untilServes(seat);
  }

  /** Makes a call without waiting for its end. */
  #call(seat, name, input = {}) {
    const requestId = `r${++this.#lastRequest}`;
    const toolId = `${seat.id}/${name}`;
    const call = this.#calls.add({ requestId, life: this.#life, toolId, cell: this.#cell });
    this.#tally.made(this.#cell);
    this.#life.call({ requestId, toolId, input });
    return call;
  }

  #traffic() {
    for (const seat of this.#seats) {
      if (this.#random.chance(0.5)) this.#call(seat, "quick");
    }
  }

  /** After an agent was struck: nothing of that launch is left, every call has ended, and both agents serve. */
  async #recover(launchId) {
    const life = this.#life;
    await life.until(`the end of ${launchId}`, () =>
      [...life.agents.values()].every((agent) => agent.launchId !== launchId),
    );
    await this.#untilNothingOf([launchId], "of a launch that is over");
    for (const seat of this.#seats) await this.#untilServes(seat);
    await life.until("the ends of all calls", () => this.#calls.openOf(life).length === 0);
    await life.until("the ends of all commands", () => life.openCommands.length === 0);
  }

  /** Waits until the agent answers; where its policy lets it rest, the core says so, and it is started by hand. */
  async #untilServes(seat) {
    const life = this.#life;
    await seat.plan({ stays: this.#random.chance(0.3) });
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      await life.until(`${seat.id} to be ready or to rest`, () =>
        settledStates.has(life.agents.get(seat.id)?.state),
      );
      const { state } = life.agents.get(seat.id);
      const call = this.#call(seat, "child");
      await life.until(`the end of ${call.requestId}`, () => call.told.length > 0);
      const [code] = call.told;
      if (code === "succeeded") return;
      must(
        notServing.has(code),
        `${seat.id} is ${state} (${life.agents.get(seat.id).reason}), and a call of it ended with ${code}`,
      );
      if (!resting.has(life.agents.get(seat.id).state)) continue;
      const again = await life.begin("restart", seat.id);
      await life.until(`the restart of ${seat.id}`, () => again.isDone);
    }
    must(false, `${seat.id} did not serve after ${maxAttempts} attempts`);
  }

  /** After the core was killed: its guards end what it started, and the log is whole and knows every call. */
  async #coreDied(fault) {
    const life = this.#life;
    const { signal: how, code } = await life.ended();
    must(how === "SIGKILL", `the core ended by itself (${how ?? code}): ${life.stderr}`);
    await this.#noteRemains();
    if (!fault.includes("guards"))
      await this.#untilNothingOf([...this.#remains], "of a core that was killed");
    await this.#settle({ allowOpenEnd: true });
  }

  /** The core has closed by itself: nothing of it is left, its directory neither. */
  async #closed() {
    const life = this.#life;
    const { signal: how, code } = await life.ended();
    must(code === 0, `the core did not end well (${how ?? code}): ${life.stderr}`);
    must(life.openCommands.length === 0, `it closed without an end of: ${life.openCommands.join(", ")}`);
    const directories = await readdir(this.#sockets);
    must(directories.length === 0, `it closed and left ${directories.join(", ")}`);
    await this.#noteRemains();
    await this.#untilNothingOf([...this.#remains], "of a core that closed");
    const calls = await this.#settle({});
    const { stats } = life;
    for (const name of mustBeZero) must(stats[name] === 0, `${name} is ${stats[name]}`);
    const ended = stats.callsSucceeded + stats.callsFailed + stats.callsCanceled;
    must(ended === calls.length, `${calls.length} calls were made, ${ended} were counted`);
  }

  async #close() {
    if (!this.#life) await this.#begin();
    await this.#life.begin("close");
    await this.#closed();
  }

  /** The core that is over: each of its calls is accounted for, and its log can be trusted. */
  async #settle(options) {
    const life = this.#life;
    this.#life = undefined;
    const verified = await verifyAuditFile(this.#auditPath, options);
    must(verified.ok, `the log is not whole: ${JSON.stringify(verified.problem)}`);
    must(options.allowOpenEnd || verified.closed, "the core closed, and its log did not");
    const entries = [];
    for await (const entry of readAuditFile(this.#auditPath)) entries.push(entry);
    const ran = new Map();
    for (const { what, requestId } of this.#seats.flatMap((seat) => seat.journal)) {
      if (what === "ran") ran.set(requestId, (ran.get(requestId) ?? 0) + 1);
    }
    this.#calls.checkLog(entries);
    const calls = this.#calls.settle({ life, entries, ran });
    for (const call of calls) this.#tally.settled(call.cell, call.code);
    return calls;
  }

  #checkOpen(call, alsoAllowed) {
    if (!call) return;
    const code = call.code ?? call.told[0];
    must(
      endsOfOpenCall.has(code) || code === alsoAllowed,
      `${call.requestId} was open when the fault came, and ended with ${code}`,
    );
  }

  /** How processes of the core that is over are known: by its directory and by its launches. */
  async #noteRemains() {
    const directory = dirname(this.#life.socketPath);
    this.#remains.add(directory);
    for (const id of this.#life.launchIds) this.#remains.add(id);
    for (const { launchId } of this.#seats.flatMap((seat) => seat.journal)) this.#remains.add(launchId);
    for (const name of await readdir(directory).catch(() => [])) {
      if (name.startsWith("launch-")) this.#remains.add(name.slice("launch-".length));
    }
  }

  async #untilNothingOf(texts, what) {
    if (texts.length === 0) return;
    let left = [];
    try {
      await waitUntil(
        () => `${left.join(", ")} to end: processes ${what}`,
        () => {
          left = processesWith(texts);
          return left.length === 0;
        },
      );
    } finally {
      this.#tally.left(this.#cell, left.length);
    }
  }

  async #clean() {
    this.#life?.kill();
    for (const pid of processesWith([this.#base, ...this.#remains])) signal(pid, "SIGKILL");
    await rm(this.#base, { recursive: true, force: true, maxRetries: 5 });
  }
}
