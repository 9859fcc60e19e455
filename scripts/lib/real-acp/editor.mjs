import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

/** An editor that speaks ACP with the program that it starts, by plain JSON-RPC, and carries nothing out itself. */
export class Editor {
  #id = 0;
  #pending = new Map();
  stderr = "";
  /** What it was asked. */
  asked = [];
  /** What it was told. */
  updates = [];

  constructor(program, args, { cwd, env }) {
    this.child = spawn(program, args, { cwd, env, stdio: ["pipe", "pipe", "pipe"], detached: true });
    this.ended = once(this.child, "exit");
    this.child.stdin.on("error", () => {});
    this.child.stderr.on("data", (chunk) => (this.stderr += chunk));
    createInterface({ input: this.child.stdout }).on("line", (line) => this.#read(JSON.parse(line)));
    this.ended.then(() => {
      for (const settle of this.#pending.values()) settle({ error: { message: this.stderr.slice(-500) } });
    });
  }

  #send(message) {
    this.child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  }

  #read(message) {
    if (message.method === undefined) {
      this.#pending.get(message.id)?.(message);
      this.#pending.delete(message.id);
    } else if (message.id === undefined) this.updates.push(message.params?.update);
    else {
      this.asked.push(message);
      this.#send({ id: message.id, error: { code: -32601, message: "not in this editor" } });
    }
  }

  /** Sends a request; resolves with its answer, an error too. `sent` is called with its id. */
  call(method, params, sent) {
    const id = ++this.#id;
    const answer = new Promise((resolve) => this.#pending.set(id, resolve));
    this.#send({ id, method, params });
    sent?.(id);
    return answer;
  }

  notify(method, params) {
    this.#send({ method, params });
  }

  async close() {
    this.child.stdin.end();
    const timer = setTimeout(() => this.kill(), 5000);
    await this.ended;
    clearTimeout(timer);
    this.kill();
  }

  kill() {
    try {
      process.kill(-this.child.pid, "SIGKILL");
    } catch {
      // It has ended, and so has all that it has started.
    }
  }
}
