import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createStdioChannel } from "../../../packages/transport-stdio/dist/index.js";
import { createUnixTransport } from "../../../packages/transport-uds/dist/index.js";

/** How long anything may take before it counts as never. */
const patienceMs = 30_000;

/** Why a wait ended: the server is gone. */
export class ServerGone extends Error {
  name = "ServerGone";
}

/**
 * One process of `harness serve` and one client of it, on standard input and output or on a socket, that speaks bare
 * JSON. `onMessage` receives every message first.
 */
export class ServerLife {
  stderr = "";
  #child;
  #channel;
  #lastId = 0;
  #pending = new Map();
  #watchers = new Map();
  #isGone = false;

  constructor(child) {
    this.#child = child;
    child.stderr.setEncoding("utf8").on("data", (text) => {
      this.stderr += text;
      this.#look();
    });
    this.ended = once(child, "exit").then(([code, signal]) => {
      this.#isGone = true;
      return { code, signal };
    });
  }

  /** Starts a server in `cwd` and connects, on a socket or not. */
  static async start({ binPath, cwd, isOnSocket, onMessage }) {
    const path = join(cwd, ".harness", "s");
    // The log is what is tried here; a harness for each life would only make them longer.
    const args = ["--no-policy", ...(isOnSocket ? ["--listen", `unix:${path}`] : [])];
    const child = spawn(process.execPath, [binPath, "serve", ...args], { cwd, stdio: "pipe" });
    const life = new ServerLife(child);
    if (isOnSocket) await life.until("listening", () => life.stderr.includes("listening on"));
    life.#channel = isOnSocket
      ? await createUnixTransport({ path }).connect()
      : createStdioChannel({ input: child.stdout, output: child.stdin, watchParent: false });
    life.#channel.start({
      message: (message) => life.#take(message, onMessage),
      error: () => {},
      close: () => {},
    });
    return life;
  }

  kill(signal = "SIGKILL") {
    this.#child.kill(signal);
  }

  /** Sends a request and gives `{ result }` or `{ error }`. Throws {@link ServerGone}. */
  async request(method, params) {
    const id = ++this.#lastId;
    this.#channel.send({ jsonrpc: "2.0", id, method, params }).catch(() => {});
    await this.until(method, () => this.#pending.has(id));
    return this.#pending.get(id);
  }

  /** Settles when `condition` holds, which is looked at after every message. Waits no longer than the server lives. */
  async until(what, condition) {
    if (this.#isGone) throw new ServerGone(what);
    if (condition()) return;
    const met = new Promise((resolve) => {
      this.#watchers.set(resolve, condition);
    });
    const tooLate = new AbortController();
    const late = sleep(patienceMs, "late", { signal: tooLate.signal }).catch(() => {});
    const end = await Promise.race([met, late, this.ended]);
    tooLate.abort();
    if (end === "late") throw new RangeError(`nothing for ${patienceMs} ms: ${what}\n${this.stderr}`);
    if (end !== undefined) throw new ServerGone(what);
  }

  #take(message, onMessage) {
    if (this.#isGone) return;
    onMessage(message);
    if (message.id !== undefined) this.#pending.set(message.id, message);
    this.#look();
  }

  #look() {
    for (const [settle, condition] of this.#watchers) {
      if (!condition()) continue;
      this.#watchers.delete(settle);
      settle();
    }
  }
}
