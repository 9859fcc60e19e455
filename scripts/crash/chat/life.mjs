import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { ServerGone } from "../server-life.mjs";

const program = fileURLToPath(new URL("server.mjs", import.meta.url));
/** How long anything may take before it counts as never. */
const patienceMs = 30_000;

/** One process with a harness, as `server.mjs` is, and what its parent hears of it. */
export class ChatLife {
  /** Settles when the process is gone and everything that it said was heard. */
  ended;
  stderr = "";
  warnings = [];
  #child;
  #pending = new Map();
  #lastId = 0;
  #isGone = false;

  /** `onMessage` receives every line first. */
  constructor({ file, number, dieAt, onMessage }) {
    const child = spawn(process.execPath, [program, file, String(number), String(dieAt)]);
    this.#child = child;
    child.stdin.on("error", () => {});
    child.stderr.setEncoding("utf8").on("data", (text) => {
      this.stderr += text;
    });
    createInterface({ input: child.stdout }).on("line", (line) => {
      const message = JSON.parse(line);
      onMessage(message);
      if (message.warning !== undefined) this.warnings.push(message.warning);
      this.#pending.get(message.id)?.(message);
      this.#pending.delete(message.id);
    });
    this.ended = once(child, "close").then(([code, signal]) => {
      this.#isGone = true;
      return { code, signal };
    });
    this.opened = this.#answer(0, "opening");
    this.opened.catch(() => {});
  }

  kill() {
    this.#child.kill("SIGKILL");
  }

  /** Has it do something. Rejects with {@link ServerGone} when it dies over it. */
  async call(op, ...args) {
    if (this.#isGone) throw new ServerGone(op);
    const id = ++this.#lastId;
    const answer = this.#answer(id, op);
    this.#child.stdin.write(`${JSON.stringify({ id, op, args })}\n`);
    const { result, error } = await answer;
    if (error !== undefined) throw new TypeError(`${op} ${JSON.stringify(args)} rejected: ${error}`);
    return result;
  }

  #answer(id, what) {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        reject(new RangeError(`nothing for ${patienceMs} ms: ${what}\n${this.stderr}`));
      }, patienceMs);
      this.#pending.set(id, (message) => {
        clearTimeout(timer);
        resolve(message);
      });
      this.ended.then(() => {
        clearTimeout(timer);
        reject(new ServerGone(what));
      });
    });
  }
}
