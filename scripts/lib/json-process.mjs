import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { createStdioChannel } from "../../packages/transport-stdio/dist/index.js";

/** Why a wait ended: the process is gone. */
export class ProcessGone extends Error {
  name = "ProcessGone";
}

/** A process and a bare JSON-RPC client of it, on standard input and output or on another channel. */
export class JsonProcess {
  stderr = "";
  #child;
  #channel;
  #patienceMs;
  #lastId = 0;
  #answers = new Map();
  #watchers = new Map();
  #isGone = false;

  /** @param {import("node:child_process").ChildProcess} child with pipes; @param {number} patienceMs how long anything may take */
  constructor(child, patienceMs) {
    this.#child = child;
    this.#patienceMs = patienceMs;
    child.stderr.setEncoding("utf8").on("data", (text) => {
      this.stderr += text;
      this.#look();
    });
    this.ended = once(child, "exit").then(([code, signal]) => {
      this.#isGone = true;
      return { code, signal };
    });
  }

  /** Begins to read. `onMessage` receives every message first. */
  open(onMessage, channel = undefined) {
    const { stdout: input, stdin: output } = this.#child;
    this.#channel = channel ?? createStdioChannel({ input, output, watchParent: false });
    const message = (message) => {
      if (this.#isGone) return;
      onMessage(message);
      if (message.method === undefined) this.#answers.set(message.id, message);
      this.#look();
    };
    this.#channel.start({ message, error: () => {}, close: () => {} });
  }

  kill(signal = "SIGKILL") {
    this.#child.kill(signal);
  }

  send(message) {
    this.#channel.send({ jsonrpc: "2.0", ...message }).catch(() => {});
  }

  /** Sends a request and gives `{ result }` or `{ error }`; `onSent` gets its id. Throws {@link ProcessGone}. */
  async request(method, params, onSent = () => {}) {
    const id = ++this.#lastId;
    this.send({ id, method, params });
    onSent(id);
    await this.until(method, () => this.#answers.has(id));
    return this.#answers.get(id);
  }

  /** Settles when `condition` holds, which is looked at after every message. Waits no longer than the process lives. */
  async until(what, condition) {
    if (this.#isGone) throw new ProcessGone(what);
    if (condition()) return;
    const met = new Promise((resolve) => {
      this.#watchers.set(resolve, condition);
    });
    const settled = new AbortController();
    const late = sleep(this.#patienceMs, "late", { signal: settled.signal }).catch(() => {});
    const end = await Promise.race([met, late, this.ended]);
    settled.abort();
    if (end === "late") throw new RangeError(`nothing for ${this.#patienceMs} ms: ${what}\n${this.stderr}`);
    if (end !== undefined) throw new ProcessGone(what);
  }

  #look() {
    for (const [settle, condition] of this.#watchers) {
      if (!condition()) continue;
      this.#watchers.delete(settle);
      settle();
    }
  }
}
