import { sha256Hex } from "@harnesskit/node-kit";
import type { Actor, Caller } from "@harnesskit/protocol/runtime";
import {
  type Channel,
  ConnectionClosedError,
  defineLimits,
  type HarnessError,
  InvalidArgumentError,
  type LimitsOf,
  RequestTimeoutError,
} from "@harnesskit/wire";
import { type Clock, systemClock } from "@harnesskit/wire/time";
import type { RunningCore } from "../core.ts";
import { checkCoreServerOptions } from "../option-names.ts";
import { CoreServerConnection } from "./server-connection.ts";

export const coreServerLimits = defineLimits({
  /** Clients that are connected at the same time; further ones are closed. */
  maxClients: 64,
  /** Calls of one client that run or wait; further ones end with `tool.busy`. */
  maxCalls: 64,
  /** How long a client may take to introduce itself, in milliseconds. */
  helloTimeoutMs: 5_000,
});
export type CoreServerLimits = LimitsOf<typeof coreServerLimits>;

/** A client by its token: as whom its calls are made. What the client says of itself does not count. */
export interface RemoteClient {
  /** At least 32 characters. Secret. */
  readonly token: string;
  readonly caller: Caller;
  /** Who is behind the client. @default unknown */
  readonly actor?: Actor | undefined;
}

export interface CoreServerOptions {
  /** The core whose tools the server offers. The caller closes it. */
  readonly core: Pick<RunningCore, "tools" | "check" | "call">;
  /** Who may connect, by their tokens. */
  readonly clients: readonly RemoteClient[];
  /** As announced to clients. @default "0.0.0" */
  readonly version?: string | undefined;
  /** Limits to override. @default each as {@link CoreServerLimits} states */
  readonly limits?: Partial<CoreServerLimits> | undefined;
  /** Receives what no client sees. What it throws is ignored. @default ignored */
  readonly onError?: ((error: HarnessError) => void) | undefined;
  /** @default the real time */
  readonly clock?: Clock | undefined;
}

/** Lets other processes use a core. */
export interface CoreServer extends AsyncDisposable {
  /** Serves one client on a channel that was not started yet. */
  connect(channel: Channel): void;
  /** Closes the connections; calls that run are cancelled. */
  close(): Promise<void>;
}

/**
 * Lets other processes list, check, call and cancel the tools of a core, over channels of any transport, as
 * `coreApiMethods` of `@harnesskit/protocol/runtime` says. A client whose connection is lost loses its calls: they are
 * cancelled. Throws `invalid_argument` for limits and tokens that cannot be used.
 */
export const createCoreServer = (options: CoreServerOptions): CoreServer => {
  checkCoreServerOptions(options);
  const limits = coreServerLimits.resolve(options.limits);
  const { core, version = "0.0.0", onError, clock = systemClock } = options;
  const findClient = knownTokens(options.clients);
  const channels = new Set<Channel>();
  let isClosing = false;
  return {
    connect(channel) {
      if (isClosing || channels.size >= limits.maxClients) {
        void channel.close(new ConnectionClosedError("the core takes no more clients"));
        return;
      }
      channels.add(channel);
      const connection = new CoreServerConnection(channel, { core, findClient, version, limits, onError });
      const stopWaiting = clock.after(limits.helloTimeoutMs, () => {
        if (!connection.isKnown)
          void channel.close(new RequestTimeoutError("core.hello", limits.helloTimeoutMs));
      });
      void channel.closed.then(() => {
        stopWaiting();
        channels.delete(channel);
      });
    },
    async close() {
      isClosing = true;
      await Promise.all([...channels].map((channel) => channel.close()));
    },
    [Symbol.asyncDispose]() {
      return this.close();
    },
  };
};

const minLength = 32;

/** Finds the client of a token by its hash: how long a look-up of a hash takes says nothing of a token. */
const knownTokens = (clients: readonly RemoteClient[]) => {
  if (clients.some(({ token }) => token.length < minLength)) {
    throw new InvalidArgumentError(`clients: a token must have at least ${minLength} characters`);
  }
  const byHash = new Map(clients.map((client) => [sha256Hex(client.token), client]));
  return (token: string): RemoteClient | undefined => byHash.get(sha256Hex(token));
};
