import { spawn } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createStdioChannel } from "../../../packages/transport-stdio/dist/index.js";
import { createUnixTransport } from "../../../packages/transport-uds/dist/index.js";
import { ProtocolError, RequestTimeoutError } from "../../../packages/wire/dist/index.js";
import { createPeer } from "../../../packages/wire/dist/rpc.js";
import { repositoryRoot } from "../../lib/root.mjs";

const binPath = join(repositoryRoot, "apps/cli/dist/bin.cjs");
/** How long anything may take before it counts as never. */
const patienceMs = 30_000;

/** Why a wait ended: the server is gone. */
export class ServerGone extends Error {
  name = "ServerGone";
}

/** `harness serve` as a process, and a bare client of it on standard input and output or on a socket. */
export class Server {
  stderr = "";
  #child;
  #peer;
  #heard = new EventEmitter();

  /** @param {(message: { method: string, params: object }) => void} onNotification gets each before anything that waits for it */
  static async start(cwd, isOnSocket, onNotification) {
    const server = new Server();
    const socket = join(cwd, ".harness", "s");
    // The log is what is tried here; a harness for each life would only make them longer.
    const args = ["serve", "--no-policy", ...(isOnSocket ? ["--listen", `unix:${socket}`] : [])];
    const child = spawn(process.execPath, [binPath, ...args], { cwd, stdio: "pipe" });
    server.#child = child;
    const exited = once(child, "exit").then(([code, signal]) => ({ code, signal }));
    child.stderr.setEncoding("utf8").on("data", (text) => {
      server.stderr += text;
    });
    const early = exited.then(() => Promise.reject(new Error(`the server ended early: ${server.stderr}`)));
    early.catch(() => {});
    while (isOnSocket && !server.stderr.includes("listening on"))
      await Promise.race([once(child.stderr, "data"), early]);
    const channel = isOnSocket
      ? await createUnixTransport({ path: socket }).connect()
      : createStdioChannel({ input: child.stdout, output: child.stdin, watchParent: false });
    const notification = (method, params) => {
      onNotification({ method, params });
      server.#heard.emit("heard");
    };
    server.#peer = createPeer(channel, { notification }, { requestTimeoutMs: patienceMs });
    // What it wrote before its end is read to the end.
    server.ended = Promise.all([exited, server.#peer.closed]).then(([end]) => end);
    return server;
  }

  kill(signal = "SIGKILL") {
    this.#child.kill(signal);
  }

  /** Rejects with what the server answers, or with {@link ServerGone}. */
  async request(method, params) {
    return this.#peer.request(method, params).catch((error) => {
      throw error instanceof ProtocolError || error instanceof RequestTimeoutError
        ? error
        : new ServerGone(method);
    });
  }

  /** Settles when the condition holds, which is looked at after each notification. Rejects with {@link ServerGone}. */
  async until(what, condition) {
    const late = sleep(patienceMs, undefined, { ref: false }).then(() =>
      Promise.reject(new RangeError(`nothing for ${patienceMs} ms: ${what}\n${this.stderr}`)),
    );
    const gone = this.#peer.closed.then(() => Promise.reject(new ServerGone(what)));
    for (const end of [late, gone]) end.catch(() => {});
    while (!condition()) await Promise.race([once(this.#heard, "heard"), late, gone]);
  }
}
