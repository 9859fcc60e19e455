import { randomBytes } from "node:crypto";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { must, Violation } from "../violation.mjs";
import { checkActions, checkFiles, checkRequests } from "./check.mjs";
import { Known } from "./known.mjs";
import { Ledger, proofOf } from "./ledger.mjs";
import { checkKept, checkShape, readLogs } from "./log.mjs";
import { Server, ServerGone } from "./server.mjs";

const events = [
  "turn.queued",
  "turn.started",
  "item.started",
  "item.updated",
  "item.completed",
  "approval.requested",
  "approval.resolved",
  "turn.completed",
];
/** Turns of one life, at most. */
const maxTurns = 6;
const whenBusy = ["queue", "queue", "queue", "interrupt"];
const randomName = (letter) => `${letter}${randomBytes(6).toString("hex")}`;

/**
 * One directory and the servers that die in it: a client gives them work, they are killed at moments that the random
 * numbers choose, and after each death what was promised is looked for. The last server lives, and everything is
 * brought to its end.
 */
export class Story {
  figures = { kills: 0, restarts: 0, events: 0, answers: 0 };
  #random;
  #cwd = "";
  #life;
  #ledger = new Ledger();
  #logs = new Map();
  /** Requests by `clientRequestId`: their method and params, and the answer once there is one. */
  #requests = new Map();
  #threads = [];
  /** The command's word by turn: what the action writes. */
  #words = [];
  #known = new Known();
  /** What was wrong with a message. */
  #broken;
  #subscribes = false;

  constructor(random) {
    this.#random = random;
  }

  /** Tells the story with so many deaths. Throws a `Violation`. */
  async tell(kills) {
    this.#cwd = await mkdtemp(join(tmpdir(), "harness-crash-"));
    try {
      await mkdir(join(this.#cwd, ".harness"), { mode: 0o700 });
      for (let kill = 0; kill < kills; kill++) await this.#die();
      await this.#end();
      return this.figures;
    } finally {
      this.#life?.kill();
      await this.#life?.ended;
      await rm(this.#cwd, { recursive: true, force: true });
    }
  }

  async #die() {
    try {
      await this.#begin(this.#chooseMoment());
      await this.#retry();
      await this.#work();
    } catch (error) {
      if (!(error instanceof ServerGone)) throw error;
    }
    this.#life.kill();
    const { signal, code } = await this.#life.ended;
    if (this.#broken) throw this.#broken;
    must(signal === "SIGKILL", `the server ended by itself (${signal ?? code}): ${this.#life.stderr}`);
    this.figures.kills += 1;
    await this.#checkLogs();
  }

  /** The last server: everything that is open comes to its end, and each thread can be used again. */
  async #end() {
    try {
      await this.#finish();
    } catch (error) {
      if (!(error instanceof ServerGone)) throw this.#broken ?? error;
      throw this.#broken ?? new Violation(`the server ended by itself: ${this.#life.stderr}`);
    }
  }

  async #finish() {
    await this.#begin(() => false);
    await this.#retry();
    for (const threadId of this.#threads) await this.#settle(threadId);
    for (const threadId of this.#threads) {
      await this.#startTurn(threadId, "list files");
      await this.#settle(threadId);
    }
    this.#life.kill("SIGTERM");
    const { code } = await this.#life.ended;
    must(code === 0, `the last server ended with ${code}\n${this.#life.stderr}`);
    await this.#checkLogs();
    for (const [threadId, log] of this.#logs) {
      const { open, openItems } = checkShape(threadId, log);
      must(open === undefined, `${threadId}: ${open} has no end`);
      must(openItems.length === 0, `${threadId}: ${openItems.join(", ")} have no end`);
    }
    checkRequests(this.#logs);
    Object.assign(this.figures, await checkActions(this.#cwd, this.#logs, this.#words));
    await checkFiles(this.#cwd);
    this.figures.events = this.#ledger.checked;
  }

  /** Starts a server and greets it. `isMoment` is asked at each message whether the server dies now. */
  async #begin(isMoment) {
    if (this.figures.kills > 0) this.figures.restarts += 1;
    this.#ledger.beginLife();
    this.#known.begin(this.#logs);
    let messages = 0;
    this.#life = undefined;
    this.#life = await Server.start(this.#cwd, this.#random.chance(0.4), (message) => {
      messages += 1;
      // What was received before the blow counts, this message included.
      try {
        this.#ledger.hear(message);
        this.#known.hear(message);
      } catch (error) {
        this.#broken ??= error;
        this.#life.kill();
      }
      if (isMoment(message, messages)) this.#life.kill();
    });
    await this.#life.request("initialize", { clientInfo: { name: "crash" } });
    this.#subscribes = this.#threads.length > 0;
    // A new client hears of every thread; from here on of those that it subscribes to.
    if (this.#subscribes) await this.#life.request("thread.unsubscribe", { threadId: this.#threads[0] });
    for (const threadId of this.#threads) await this.#subscribe(threadId);
  }

  /** After so many messages, or at an event or a little after it. */
  #chooseMoment() {
    const random = this.#random;
    if (random.chance(0.5)) {
      const count = random.between(1, 80);
      return (_, messages) => messages >= count;
    }
    const name = random.pick(events);
    const delayMs = random.chance(0.5) ? random.between(0, 30) : 0;
    let left = random.between(1, 4);
    return ({ method }) => {
      if (method !== name || --left !== 0) return false;
      if (delayMs > 0) setTimeout(() => this.#life.kill(), delayMs).unref();
      return delayMs === 0;
    };
  }

  /** Hears of the thread what it missed, or from the beginning. */
  async #subscribe(threadId) {
    const known = this.#logs.get(threadId) ?? [];
    const afterSeq = this.#random.chance(0.5) ? 0 : known.length;
    this.#ledger.subscribed(threadId, afterSeq);
    const { lastSeq } = await this.#life.request("thread.subscribe", { threadId, afterSeq });
    must(lastSeq >= known.length, `${threadId}: lastSeq ${lastSeq}, the log has ${known.length}`);
  }

  /** Sends what has no answer yet once more, and some of what has one. */
  async #retry() {
    for (const request of [...this.#requests.values()]) {
      if (request.answer && this.#random.chance(0.7)) continue;
      if (request.method === "approval.respond" && request.answer) continue;
      await this.#send(request);
    }
  }

  async #work() {
    const random = this.#random;
    if (this.#threads.length === 0 || random.chance(0.3)) await this.#createThread();
    for (let turn = 0; turn < maxTurns; turn++) {
      const threadId = random.pick(this.#threads);
      if (!this.#known.open.has(threadId)) await this.#startTurn(threadId, this.#prompt());
      while (random.chance(0.4)) await this.#startTurn(threadId, this.#prompt(), random.pick(whenBusy));
      if (random.chance(0.1)) {
        await this.#life.request("turn.cancel", { threadId }).catch((error) => {
          // The turn may have ended by itself.
          if (error.rpcCode === undefined) throw error;
        });
        continue;
      }
      await this.#life.until(
        "a question or an end",
        () => this.#known.questionOf(threadId) || !this.#known.open.has(threadId),
      );
      const question = this.#known.questionOf(threadId);
      if (question && !random.chance(0.15)) await this.#respond(question);
    }
  }

  /** Brings the thread's turn to its end, and those that wait behind it. */
  async #settle(threadId) {
    const known = this.#known;
    while (known.isBusy(threadId)) {
      await this.#life.until(
        "a question or an end",
        () => known.questionOf(threadId) || !known.isBusy(threadId),
      );
      const question = known.questionOf(threadId);
      if (question) await this.#respond(question);
    }
  }

  #prompt() {
    const word = randomName("w");
    const action = `run the command: echo ${word} >> actions.txt`;
    const both = [`${action} then list files`, `list files then ${action}`];
    const prompt = this.#random.pick([action, action, ...both, "list files"]);
    if (prompt.includes(word)) this.#words.push(word);
    return prompt;
  }

  async #createThread() {
    await this.#send(this.#named("thread.create", { title: randomName("t") }));
  }

  async #startTurn(threadId, text, whenBusy) {
    const input = [{ type: "text", text }];
    await this.#send(this.#named("turn.start", { threadId, input, ...(whenBusy && { whenBusy }) }));
  }

  async #respond({ requestId, threadId, metadata }) {
    const decision = this.#random.pick(["once", "once", "once", "always", "reject"]);
    const params = { requestId, decision, digest: metadata.digest };
    await this.#send({ ...this.#named("approval.respond", params), threadId });
    this.#known.questions.delete(requestId);
  }

  #named(method, params) {
    const clientRequestId = randomName("c");
    const request = { method, params: { ...params, clientRequestId }, threadId: params.threadId };
    this.#requests.set(clientRequestId, request);
    return request;
  }

  /** Sends a named request. The same one has the same answer, whichever server gives it. */
  async #send(request) {
    const { method, params } = request;
    this.#requests.set(params.clientRequestId, request);
    const result = await this.#life.request(method, params).catch((error) => {
      if (error instanceof ServerGone) throw error;
      // A turn that ended, or was cancelled, while its question was being answered; one of a retry that came too late.
      const isLate = method === "approval.respond" && error.rpcCode === -32004;
      const isBusy = method === "turn.start" && error.rpcCode === -32002;
      must(isLate || isBusy, `${method} was refused: ${error.message} for ${JSON.stringify(params)}`);
      this.#requests.delete(params.clientRequestId);
      if (isBusy) this.#known.open.set(params.threadId, error.data?.turnId);
    });
    if (result === undefined) return;
    this.figures.answers += 1;
    const isNew = method === "thread.create" && !this.#threads.includes(result.thread.threadId);
    if (request.answer) {
      const same = idOf(result) === idOf(request.answer);
      must(same, `${method} sent again gave ${idOf(result)} instead of ${idOf(request.answer)}`);
    } else this.#note(request, result);
    request.answer = result;
    if (isNew && this.#subscribes) await this.#subscribe(result.thread.threadId);
  }

  /** An answer is a promise: what proves it has to be in the log from now on. */
  #note({ method, params, threadId: given }, result) {
    const threadId = given ?? result.thread.threadId;
    if (method === "thread.create" && !this.#threads.includes(threadId)) this.#threads.push(threadId);
    const isBegun = method === "turn.start" && !result.queued;
    if (isBegun && !this.#known.ended.has(result.turnId)) this.#known.open.set(threadId, result.turnId);
    this.#ledger.answered(method, threadId, proofOf(method, params, result));
  }

  /** Checks the disk: nothing that was received is missing, and no entry has changed. */
  async #checkLogs() {
    const logs = await readLogs(this.#cwd);
    for (const [threadId, earlier] of this.#logs) checkKept(threadId, earlier, logs.get(threadId));
    for (const [threadId, log] of logs) {
      checkShape(threadId, log);
      for (const { type, data } of log) {
        if (type === "turn.completed" || type === "turn.error") this.#known.ended.add(data.turnId);
      }
    }
    this.#ledger.check(logs);
    this.#logs = logs;
  }
}

const idOf = (result) => result.thread?.threadId ?? result.turnId ?? "ok";
