import { type ChildContext, createChildTransport } from "@harnesskit/transport-stdio";
import type { Transport } from "@harnesskit/wire";
import { isDebugging } from "../debug.ts";
import { oneLine } from "../terminal/one-line.ts";

export interface ServerProcessOptions {
  /** The file of this program. */
  readonly binPath: string;
  readonly workspace: string;
  /** Arguments that say who judges. */
  readonly policyArgs: readonly string[];
}

/** What the server needs beside the usual: keys, where they are valid, how to trust and to debug, and where the user's own files lie. */
const inheritEnv = [
  "ANTHROPIC_API_KEY",
  "ANTHROPIC_BASE_URL",
  "OPENAI_API_KEY",
  "OPENAI_BASE_URL",
  "OPENAI_COMPATIBLE_API_KEY",
  "NODE_EXTRA_CA_CERTS",
  "HARNESS_AHP_TOKEN",
  "HARNESS_DEBUG",
  "XDG_RUNTIME_DIR",
  "XDG_STATE_HOME",
];

/** How often the server is told to end, and how long it may take before this process ends without it. */
const quitStepMs = 150;
const quitTimeoutMs = 3000;

/** `harness serve` as a child of this process, on the same version of Node. */
export class ServerProcess implements Transport<ChildContext> {
  readonly #transport: Transport<ChildContext>;
  #context: ChildContext | undefined;

  constructor({ binPath, workspace, policyArgs }: ServerProcessOptions) {
    this.#transport = createChildTransport({
      command: process.execPath,
      args: [binPath, "serve", "--cwd", workspace, ...policyArgs],
      cwd: workspace,
      inheritEnv,
      stderr: isDebugging() ? (line) => process.stderr.write(`${oneLine(line, 1000)}\n`) : "ignore",
    });
  }

  async connect(options?: { signal?: AbortSignal }) {
    const channel = await this.#transport.connect(options);
    this.#context = channel.context;
    return channel;
  }

  /**
   * Has the server end at once: from the second SIGTERM on it waits for nothing, and takes its commands with it.
   * Settles when it is gone or does not listen.
   */
  async quit(): Promise<void> {
    const context = this.#context;
    if (!context) return;
    for (let waitedMs = 0; waitedMs < quitTimeoutMs; waitedMs += quitStepMs) {
      try {
        process.kill(context.pid, "SIGTERM");
      } catch {
        return;
      }
      if (await Promise.race([context.exit.then(() => true), after(quitStepMs)])) return;
    }
  }
}

const after = (ms: number): Promise<false> =>
  new Promise((resolve) => setTimeout(() => resolve(false), ms).unref());
