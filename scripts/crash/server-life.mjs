import { spawn } from "node:child_process";
import { once } from "node:events";
import { createConnection } from "node:net";
import { join } from "node:path";

/** How long anything may take before it counts as never. */
const patienceMs = 30_000;

/** Why a wait ended: the server is gone. */
export class ServerGone extends Error {
  name = "ServerGone";
}

/**
 * One process of `harness serve` and one client of it, on standard input and output or on a socket, that speaks bare
 * JSON. `onMessage` receives every message first, with the number of bytes received so far.
 */
export class ServerLife {
  stderr = "";
  #child;
  #write;
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
    this.ended = once(child, "exit").then(([code, signal]) => {
      this.#lose();
      return { code, signal };
    });
  }

  /** Starts a server in `cwd` and connects. `socket` says over what. */
  static async start({ binPath, cwd, socket, onMessage }) {
    const path = join(cwd, ".harness", "s");
    // The log is what is tried here; a harness for each life would only make them longer.
    const args = ["--no-policy", ...(socket ? ["--listen", `unix:${path}`] : [])];
    const child = spawn(process.execPath, [binPath, "serve", ...args], {
      cwd,
      stdio: [socket ? "ignore" : "pipe", "pipe", "pipe"],
    });
    const life = new ServerLife({ child, onMessage });
    if (socket) await life.#connect(path);
    else life.#useStdio();
    return life;
  }

  kill(signal = "SIGKILL") {
    this.#child.kill(signal);
  }

  /** Sends a request and gives `{ result }` or `{ error }`. Throws {@link ServerGone}. */
  request(method, params) {
    if (this.#gone) throw new ServerGone(method);
    const id = ++this.#lastId;
    const answer = this.#within(method, (settle) => this.#pending.set(id, settle));
    this.#write({ jsonrpc: "2.0", id, method, params });
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

  #useStdio() {
    const { stdin, stdout } = this.#child;
    stdin.on("error", () => {});
    this.#write = (message) => stdin.write(`${JSON.stringify(message)}\n`);
    stdout.on("data", (bytes) => this.#receive(bytes, takeLine));
  }

  async #connect(path) {
    this.#child.stdout.resume();
    await this.#listening();
    const socket = createConnection(path);
    socket.on("error", () => {});
    this.#write = (message) => {
      const body = Buffer.from(JSON.stringify(message));
      const head = Buffer.alloc(4);
      head.writeUInt32BE(body.length);
      socket.write(Buffer.concat([head, body]));
    };
    socket.on("data", (bytes) => this.#receive(bytes, takeFrame));
  }

  #listening() {
    return this.#within("listening", (settle) => {
      this.#child.stderr.on("data", () => {
        if (this.stderr.includes("listening on")) settle();
      });
    });
  }

  #receive(bytes, take) {
    if (this.#gone) return;
    this.#buffer = Buffer.concat([this.#buffer, bytes]);
    this.#bytes += bytes.length;
    for (let taken = take(this.#buffer); taken; taken = take(this.#buffer)) {
      this.#buffer = this.#buffer.subarray(taken.length);
      this.#take(JSON.parse(taken.body.toString("utf8")));
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

const takeLine = (buffer) => {
  const end = buffer.indexOf(10);
  return end < 0 ? undefined : { length: end + 1, body: buffer.subarray(0, end) };
};

const takeFrame = (buffer) => {
  if (buffer.length < 4) return undefined;
  const length = 4 + buffer.readUInt32BE(0);
  return buffer.length < length ? undefined : { length, body: buffer.subarray(4, length) };
};
