import { spawn } from "node:child_process";
import { once } from "node:events";

/** How long anything may take before it counts as never. */
const patienceMs = 30_000;

/** Why a wait ended: the server is gone. */
export class ServerGone extends Error {
  name = "ServerGone";
}

/**
 * One process of `harness serve` and one client of it, on standard input and output, that speaks bare JSON. `onMessage` receives every message first, with the number of bytes received so far.
 */
export class ServerLife {
  stderr = "";
  #child;
  #lastId = 0;
  #pending = new Map();
  #watchers = new Set();
  #buffer = Buffer.alloc(0);
  #bytes = 0;
  #gone = false;
  #onMessage;

  constructor({ child, onMessage }) {
    this.#child = child;
    this.#onMessage = onMessage;
    child.stderr.setEncoding("utf8").on("data", (text) => {
      this.stderr += text;
    });
    child.stdin.on("error", () => {});
    child.stdout.on("data", (bytes) => this.#receive(bytes));
    this.ended = once(child, "exit").then(([code, signal]) => {
      this.#lose();
      return { code, signal };
    });
  }

  /** Starts a server in `cwd`. The log is what is tried here; a harness for each life would only make them longer. */
  static start({ binPath, cwd, onMessage }) {
    const args = [binPath, "serve", "--no-policy"];
    return new ServerLife({ child: spawn(process.execPath, args, { cwd }), onMessage });
  }

  kill(signal = "SIGKILL") {
    this.#child.kill(signal);
  }

  /** Sends a request and gives `{ result }` or `{ error }`. Throws {@link ServerGone}. */
  request(method, params) {
    if (this.#gone) throw new ServerGone(method);
    const id = ++this.#lastId;
    const answer = this.#within(method, (settle) => this.#pending.set(id, settle));
    this.#child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    return answer;
  }

  /** Settles when `condition` holds; it is looked at after every message. */
  async until(what, condition) {
    if (condition()) return;
    await this.#within(what, (settle) => {
      const look = () => {
        if (!condition()) return;
        this.#watchers.delete(look);
        settle();
      };
      this.#watchers.add(look);
    });
  }

  /** Waits, but not for ever, and not longer than the server lives. */
  #within(what, begin) {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        reject(new RangeError(`nothing for ${patienceMs} ms: ${what}\n${this.stderr}`));
      }, patienceMs);
      const settle = (value) => {
        clearTimeout(timer);
        resolve(value);
      };
      begin(settle);
      this.ended.then(() => {
        clearTimeout(timer);
        reject(new ServerGone(what));
      });
    });
  }

  #receive(bytes) {
    if (this.#gone) return;
    this.#buffer = Buffer.concat([this.#buffer, bytes]);
    this.#bytes += bytes.length;
    for (let end = this.#buffer.indexOf(10); end >= 0; end = this.#buffer.indexOf(10)) {
      const line = this.#buffer.subarray(0, end).toString("utf8");
      this.#buffer = this.#buffer.subarray(end + 1);
      this.#take(JSON.parse(line));
    }
  }

  #take(message) {
    this.#onMessage(message, this.#bytes);
    const settle = this.#pending.get(message.id);
    if (settle) {
      this.#pending.delete(message.id);
      settle(message);
    }
    for (const look of [...this.#watchers]) look();
  }

  #lose() {
    this.#gone = true;
    this.#pending.clear();
    this.#watchers.clear();
  }
}
