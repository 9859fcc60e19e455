import { createUnixTransport } from "@harnesskit/transport-uds";
import type { Channel, Transport } from "@harnesskit/wire";
import { socketPathOf } from "../endpoint.ts";
import { ServerProcess } from "./server-process.ts";

export interface RunServerOptions {
  /** The file of this program. */
  readonly binPath: string;
  readonly workspace: string;
  /** The endpoint of a server that runs. @default one is started for each connection */
  readonly attach: string | undefined;
  /** Arguments of a server that is started: who judges. */
  readonly policyArgs: readonly string[];
}

/** The server of a run: a child of this process for each connection, or one that runs already. */
export class RunServer implements Transport {
  readonly #options: RunServerOptions;
  #child: ServerProcess | undefined;

  constructor(options: RunServerOptions) {
    this.#options = options;
  }

  async connect(options?: { signal?: AbortSignal }): Promise<Channel> {
    const { attach, binPath, workspace, policyArgs } = this.#options;
    if (attach !== undefined) {
      return createUnixTransport({ path: socketPathOf(attach, "--attach") }).connect(options);
    }
    this.#child = new ServerProcess({ binPath, workspace, policyArgs });
    return this.#child.connect(options);
  }

  /** Has a server that was started here end at once; one that ran already goes on. */
  async quit(): Promise<void> {
    await this.#child?.quit();
  }
}
