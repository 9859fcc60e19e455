import { copyFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ServerGone } from "../server-life.mjs";
import { must } from "../violation.mjs";
import { loadStore } from "./built.mjs";
import { checkEnd, checkNow } from "./check.mjs";
import { ChatClient } from "./client.mjs";
import { ChatLife } from "./life.mjs";
import { readSession } from "./reading.mjs";
import { kindOf, stagesOf } from "./story-graph.mjs";

const sessionIds = ["s", "t"];
/** What a client does in one life, at most. */
const maxSteps = 6;
/** How many points such a life has, about. */
const maxPoints = 250;

const { openSqliteStore } = await loadStore();

/**
 * One file and the processes that die over it: the clients of two sessions give them work, they are killed at moments that the
 * random numbers choose, and after each death what was promised is looked for. The last process lives, and everything is brought to
 * its end.
 */
export class ChatStory {
  figures = { kills: 0, restarts: 0, messages: 0, signals: 0, told: 0, retries: 0, stalls: 0 };
  #random;
  #directory = "";
  #life;
  #clients = sessionIds.map((id) => new ChatClient(id, undefined, { mayStall: true }));
  /** What each client is about: what was not acknowledged is done again in the next life. */
  #steps = new Map();
  #texts = 0;
  /** Ends that counted as delivered when the last process died. */
  #delivered = new Set();
  #broken;
  #isMoment = () => false;

  constructor({ random }) {
    this.#random = random;
  }

  get #file() {
    return join(this.#directory, "chat.db");
  }

  /** Tells the story with so many deaths. Throws a `Violation`. */
  async tell(kills) {
    this.#directory = await mkdtemp(join(tmpdir(), "chat-crash-"));
    try {
      for (let kill = 0; kill < kills; kill++) await this.#die();
      await this.#end();
      this.#count();
      return this.figures;
    } finally {
      this.#life?.kill();
      await this.#life?.ended;
      await rm(this.#directory, { recursive: true, force: true });
    }
  }

  async #die() {
    const random = this.#random;
    const way = random.pick(["point", "point", "time", "answers", "start"]);
    this.#begin(way === "point" ? random.between(1, maxPoints) : 0);
    if (way === "start") setTimeout(() => this.#life.kill(), random.between(0, 300)).unref();
    try {
      await this.#life.opened;
      if (way === "time") setTimeout(() => this.#life.kill(), random.between(0, 60)).unref();
      if (way === "answers") this.#isMoment = this.#afterAnswers(random.between(1, 20));
      await this.#work();
    } catch (error) {
      if (!(error instanceof ServerGone)) throw this.#broken ?? error;
    }
    this.#life.kill();
    const { signal, code } = await this.#life.ended;
    if (this.#broken) throw this.#broken;
    must(signal === "SIGKILL", `the process ended by itself (${signal ?? code}): ${this.#life.stderr}`);
    this.figures.kills += 1;
    await this.#look();
  }

  #begin(dieAt) {
    if (this.figures.kills > 0) this.figures.restarts += 1;
    this.#isMoment = () => false;
    const life = new ChatLife({
      file: this.#file,
      number: this.figures.kills + 1,
      dieAt,
      onMessage: (message) => this.#hear(message),
    });
    this.#life = life;
    for (const client of this.#clients) {
      client.beginLife({
        send: (sessionId, text) => life.call("send", sessionId, text),
        signal: (signal) => life.call("signal", signal),
        pending: (sessionId) => life.call("pending", sessionId),
      });
    }
  }

  #afterAnswers(count) {
    let left = count;
    return () => --left <= 0;
  }

  #hear({ told }) {
    if (this.#isMoment()) this.#life.kill();
    if (told === undefined) return;
    const { turn, delivery } = told;
    const { invocation_id: id, session_id: sessionId } = delivery;
    try {
      must(
        !this.#delivered.has(id),
        `${sessionId}: ${id} was delivered and is delivered again by the next process`,
      );
      this.#clients.find(({ ledger }) => ledger.sessionId === sessionId).hear(turn, delivery);
    } catch (error) {
      this.#broken ??= error;
    }
  }

  /** Settles when all have, and then rejects as the first one did: none continues after that. */
  async #each(work) {
    const results = await Promise.allSettled(this.#clients.map(work));
    const failed = results.filter(({ status }) => status === "rejected").map(({ reason }) => reason);
    if (this.#broken) throw this.#broken;
    if (failed.length > 0) throw failed.find((reason) => !(reason instanceof ServerGone)) ?? failed[0];
  }

  async #work() {
    const random = this.#random;
    for (const id of sessionIds) if (random.chance(0.8)) await this.#life.call("listen", id);
    const recovery = random.chance(0.5) ? this.#recover() : undefined;
    recovery?.catch(() => {});
    if (random.chance(0.5)) await recovery;
    await this.#each(async (client) => {
      for (let step = 0; step < maxSteps; step++) await this.#step(client);
    });
    await recovery;
  }

  async #recover() {
    const { failed_count: failed } = await this.#life.call("recover");
    must(failed === 0, `${failed} turns cannot be gone on with: ${this.#life.warnings.join("\n")}`);
  }

  /** Does what the client is about, or something new. */
  async #step(client) {
    if (this.#steps.has(client)) this.figures.retries += 1;
    else this.#steps.set(client, this.#choose(client));
    await this.#steps.get(client)();
    this.#steps.delete(client);
  }

  /** What waits for its client's answer, by text and stage. */
  #waiting({ ledger: { sends, signals } }) {
    return sends.flatMap(({ text, isAcknowledged, invocationId }) => {
      const answered = signals.filter((each) => each.isAnswered && each.invocationId === invocationId).length;
      const stage = isAcknowledged ? stagesOf(text)[answered] : undefined;
      return stage === undefined ? [] : [[text, stage]];
    });
  }

  #choose(client) {
    const random = this.#random;
    const waiting = this.#waiting(client);
    const way = random.pick(["send", "send", "signal", "signal", "at once", "both", "again"]);
    const text = `${random.pick(["chat", "chat", "ask", "job", "twice"])} ${client.ledger.sessionId}${++this.#texts}`;
    if (way === "again") {
      const answered = client.ledger.sends.filter(
        ({ text: each, invocationId }) =>
          ["ask", "job"].includes(kindOf(each)) &&
          client.ledger.signals.some((signal) => signal.isAnswered && signal.invocationId === invocationId),
      );
      const again = answered.length > 0 ? random.pick(answered).text : undefined;
      if (again !== undefined) return () => client.signal(again);
    }
    if (way === "send" || waiting.length === 0) return () => client.send(text);
    const [topic, stage] = random.pick(waiting);
    const signal = () => client.signal(topic, stage);
    if (way === "at once") return () => Promise.all([signal(), signal()]);
    return way === "both" ? () => Promise.all([client.send(text), signal()]) : signal;
  }

  /** What the process has left, beside what its clients know. A copy is looked at: the next process finds it as it was left. */
  async #look() {
    const copy = await mkdtemp(join(tmpdir(), "chat-crash-"));
    try {
      for (const ending of ["", "-wal", "-shm"]) {
        await copyFile(`${this.#file}${ending}`, join(copy, `chat.db${ending}`)).catch((error) => {
          if (error.code !== "ENOENT") throw error;
        });
      }
      await this.#inStore(join(copy, "chat.db"), checkNow);
    } finally {
      await rm(copy, { recursive: true, force: true });
    }
  }

  async #inStore(file, check) {
    const store = await openSqliteStore({ file });
    try {
      for (const { ledger } of this.#clients) check(await readSession(store, ledger.sessionId), ledger);
      const delivered = (await store.suspensions.list({ isDelivered: true })).filter(
        ({ status }) => status !== "suspended",
      );
      this.#delivered = new Set(delivered.map(({ invocation_id: id }) => id));
      return await store.suspensions.list();
    } finally {
      await store.close();
    }
  }

  /** The last process: everything that is open comes to its end, and each session can be used again. */
  async #end() {
    this.#begin(0);
    await this.#life.opened;
    for (const id of sessionIds) await this.#life.call("listen", id);
    if (this.#random.chance(0.5)) await this.#recover();
    await this.#each((client) => this.#finish(client));
    await this.#recover();
    await this.#life.call("close");
    const { code } = await this.#life.ended;
    must(code === 0, `the last process ended with ${code}\n${this.#life.stderr}`);
    if (this.#broken) throw this.#broken;
    await this.#inStore(this.#file, checkEnd);
  }

  async #finish(client) {
    if (this.#steps.has(client)) await this.#step(client);
    for (let [next] = this.#waiting(client); next !== undefined; [next] = this.#waiting(client)) {
      await client.signal(...next);
    }
    await client.answerStrangers();
    await client.send(`chat ${client.ledger.sessionId}${++this.#texts}`);
  }

  #count() {
    for (const { ledger, stalls } of this.#clients) {
      this.figures.stalls += stalls;
      this.figures.messages += ledger.sends.length;
      this.figures.signals += ledger.signals.length;
      this.figures.told += ledger.told.length;
    }
  }
}
