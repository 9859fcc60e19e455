import { makeDirectory } from "@harnesskit/node-kit";
import { type ChildContext, createChildTransport } from "@harnesskit/transport-stdio";
import type { Channel, Transport } from "@harnesskit/wire";
import { isDebugging } from "../debug.ts";
import { oneLine } from "../terminal/one-line.ts";
import { checkHarnessDirectory, harnessDirectory } from "../workspace-directory.ts";
import { freeAuditLog } from "./free-audit-log.ts";

export interface PolicyProcessOptions {
  /** The file of this program. */
  readonly binPath: string;
  readonly workspace: string;
  /** A file, or `default`. */
  readonly policy: string;
}

/** As large as what the tools take and give; an event that is larger cannot be judged. */
const maxFrameBytes = 32 * 1024 * 1024;

const inheritEnv = ["HARNESS_DEBUG", "XDG_RUNTIME_DIR", "XDG_STATE_HOME"];

/**
 * `harness ahp serve --stdio` as a child of this process, on the same version of Node: one for each connection. It ends
 * with its input, so that it does not outlive this process however that ends.
 */
export class PolicyProcess implements Transport<ChildContext> {
  readonly #options: PolicyProcessOptions;
  #channel: Channel<ChildContext> | undefined;
  #ahead: Promise<Channel<ChildContext>> | undefined;

  constructor(options: PolicyProcessOptions) {
    this.#options = options;
  }

  /** Starts the first process before it is asked for. A failure is told by the connection that wants it. */
  startAhead(): void {
    this.#ahead = this.#start();
    this.#ahead.catch(() => {});
  }

  async connect(options?: { signal?: AbortSignal }): Promise<Channel<ChildContext>> {
    const ahead = this.#ahead;
    this.#ahead = undefined;
    this.#channel = await (ahead ?? this.#start(options));
    return this.#channel;
  }

  /** Ends what was started ahead and is not wanted. */
  async discard(): Promise<void> {
    const ahead = this.#ahead;
    this.#ahead = undefined;
    await ahead?.then((channel) => channel.close()).catch(() => {});
  }

  /** Ends the process that serves now, because it does not answer. */
  restart(): void {
    void this.#channel?.close().catch(() => {});
  }

  async #start(options?: { signal?: AbortSignal }): Promise<Channel<ChildContext>> {
    const { binPath, workspace, policy } = this.#options;
    const directory = harnessDirectory(workspace);
    // Looked at for each process: what ran meanwhile may have put a link there.
    await checkHarnessDirectory(workspace);
    await makeDirectory(directory);
    const audit = await freeAuditLog(directory);
    const transport = createChildTransport({
      command: process.execPath,
      args: [binPath, "ahp", "serve", "--stdio", "--quiet", "--policy", policy, "--audit", audit],
      cwd: workspace,
      inheritEnv,
      stderr: isDebugging() ? (line) => process.stderr.write(`${oneLine(line, 1000)}\n`) : "ignore",
      closeTimeoutMs: 1000,
      killTimeoutMs: 500,
      maxFrameBytes,
    });
    return transport.connect(options);
  }
}
