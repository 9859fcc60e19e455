import { type ChildContext, createChildTransport } from "@harnesskit/transport-stdio";
import type { Channel, Transport } from "@harnesskit/wire";
import { isDebugging } from "../cli-error.ts";
import { socketPathOf } from "../endpoint.ts";
import { oneLine } from "../terminal/text.ts";
import { noteOfAgents } from "./server-output.ts";

/** What the server needs beside the usual: keys, where they are valid, how to trust and to debug, and where the user's own files lie. */
const inheritEnv = [
  "ANTHROPIC_API_KEY",
  "ANTHROPIC_BASE_URL",
  "OPENAI_API_KEY",
  "OPENAI_BASE_URL",
  "OPENAI_COMPATIBLE_API_KEY",
  "NODE_EXTRA_CA_CERTS",
  "HARNESS_AHP_TOKEN",
  "HARNESS_CONTEXT_TOKENS",
  "HARNESS_DEBUG",
  "HARNESS_OTEL_CONTENT",
  "OTEL_EXPORTER_OTLP_ENDPOINT",
  "OTEL_EXPORTER_OTLP_HEADERS",
  "OTEL_EXPORTER_OTLP_PROTOCOL",
  "OTEL_RESOURCE_ATTRIBUTES",
  "OTEL_TRACES_SAMPLER",
  "OTEL_TRACES_SAMPLER_ARG",
  "XDG_CACHE_HOME",
  "XDG_RUNTIME_DIR",
  "XDG_STATE_HOME",
];

const quitStepMs = 150;
const quitTimeoutMs = 3000;

const after = (ms: number): Promise<false> =>
  new Promise((resolve) => setTimeout(() => resolve(false), ms).unref());

export interface RunServerOptions {
  readonly binPath: string;
  readonly workspace: string;
  /** The endpoint of a server that runs. @default one is started for each connection */
  readonly attach: string | undefined;
  readonly serverArgs: readonly string[];
  /** Names of further variables that it gets, for the agents. */
  readonly variables: readonly string[];
}

/**
 * The server of a run: `harness serve` as a child of this process for each connection, or a server that runs already. The
 * first child starts at once, while the code of its client is loaded.
 */
export class RunServer implements Transport {
  readonly #options: RunServerOptions;
  #child: ChildContext | undefined;
  #ahead: Promise<Channel> | undefined;

  constructor(options: RunServerOptions) {
    this.#options = options;
    if (options.attach !== undefined) return;
    this.#ahead = this.#startChild();
    this.#ahead.catch(() => {});
  }

  async connect(options?: { signal?: AbortSignal }): Promise<Channel> {
    const { attach } = this.#options;
    if (attach !== undefined) {
      const { createUnixTransport } = await import("@harnesskit/transport-uds");
      return createUnixTransport({ path: socketPathOf(attach, "--attach") }).connect(options);
    }
    const ahead = this.#ahead;
    this.#ahead = undefined;
    return ahead ?? this.#startChild(options);
  }

  /** Ends a child that was started and not used. */
  async discard(): Promise<void> {
    await this.#ahead?.then((channel) => channel.close()).catch(() => {});
  }

  async #startChild(options?: { signal?: AbortSignal }): Promise<Channel> {
    const { binPath, workspace, serverArgs, variables } = this.#options;
    const channel = await createChildTransport({
      command: process.execPath,
      args: [binPath, "serve", "--cwd", workspace, ...serverArgs],
      cwd: workspace,
      inheritEnv: [...inheritEnv, ...variables],
      stderr: (line) => {
        const shown = isDebugging() ? line : noteOfAgents(line);
        if (shown !== undefined) process.stderr.write(`${oneLine(shown, 1000)}\n`);
      },
    }).connect(options);
    this.#child = channel.context;
    return channel;
  }

  /**
   * Has a child end at once: from the second SIGTERM on it waits for nothing, and takes its commands with it.
   * Settles when it is gone or does not react.
   */
  async quit(): Promise<void> {
    const child = this.#child;
    if (!child) return;
    for (let waitedMs = 0; waitedMs < quitTimeoutMs; waitedMs += quitStepMs) {
      try {
        process.kill(child.pid, "SIGTERM");
      } catch {
        return;
      }
      if (await Promise.race([child.exit.then(() => true), after(quitStepMs)])) return;
    }
  }
}
