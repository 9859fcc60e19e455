import { type Channel, createDeferred, type Transport } from "@harnesskit/wire";
import { createMemoryPair } from "@harnesskit/wire/testing";
import type { RunningCommand } from "../agents/ended-commands.ts";
import { isDebugging, logFailure } from "../cli-error.ts";
import { socketPathOf } from "../endpoint.ts";
import type { ServiceReports, ThreadService, ThreadServiceOptions } from "../serve/thread-service.ts";
import { note } from "../terminal/terminal.ts";
import { withCleanup } from "../with-cleanup.ts";

export interface RunServerOptions {
  /** The endpoint of a server that runs. @default one of this process */
  readonly attach: string | undefined;
  /** The server of this process. */
  readonly service: ThreadServiceOptions;
}

const reports: ServiceReports = {
  note: (line) => note(`harness run: ${line}`),
  detail: (line) => {
    if (isDebugging()) note(`harness run: ${line}`);
  },
  error: (error) => {
    if (isDebugging()) logFailure("harness run", error);
  },
};

/** The server of a run: one of this process, which begins to open at once, or one that runs already. */
export class RunServer implements Transport {
  readonly #attach: string | undefined;
  readonly #service = createDeferred<ThreadService>();
  readonly #done = createDeferred<void>();
  #ended: Promise<void> | undefined;

  constructor({ attach, service }: RunServerOptions) {
    this.#attach = attach;
    if (attach !== undefined) return;
    this.#service.promise.catch(() => {});
    this.#ended = withCleanup(async (defer) => {
      const { openThreadService } = await import("../serve/thread-service.ts");
      const opened = await openThreadService(service, reports, defer);
      defer(() => opened.server.close());
      this.#service.resolve(opened);
      await this.#done.promise;
    });
    this.#ended.catch((error) => this.#service.reject(error));
  }

  /** Settles when a server of this process takes clients. Rejects with why it cannot. */
  async opened(): Promise<void> {
    if (this.#attach === undefined) await this.#service.promise;
  }

  /** Rejects with what a server of this process would refuse of a turn, for which no thread is made then. */
  async check(agent: string | undefined): Promise<void> {
    if (this.#attach === undefined) await (await this.#service.promise).check(agent);
  }

  async connect(options?: { signal?: AbortSignal }): Promise<Channel> {
    if (this.#attach !== undefined) {
      const { createUnixTransport } = await import("@harnesskit/transport-uds");
      return createUnixTransport({ path: socketPathOf(this.#attach, "--attach") }).connect(options);
    }
    const { server } = await this.#service.promise;
    const pair = createMemoryPair();
    server.connect(pair.server);
    return pair.client;
  }

  /** The commands in the background that end with a server of this process. */
  async runningCommands(): Promise<readonly RunningCommand[]> {
    return this.#attach === undefined ? (await this.#service.promise).runningCommands() : [];
  }

  /** Ends a server of this process, with its agents. Settles when it is gone. */
  async close(): Promise<void> {
    this.#done.resolve();
    await this.#ended?.catch(() => {});
  }
}
