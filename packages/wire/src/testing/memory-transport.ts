import type { Channel, Listener, Transport } from "../channel.ts";
import { InvalidArgumentError, TransportError } from "../errors.ts";
import { createMemoryPair, type MemoryPairOptions } from "./memory-pair.ts";

/** A client's and a server's way to each other within one process. */
export interface MemoryTransport<Context = unknown> {
  readonly transport: Transport<Context>;
  readonly listener: Listener<Context>;
}

/**
 * Makes a linked transport and listener. `connect` rejects with `transport_failed` without a listener; `listen`
 * throws `invalid_argument` when called twice.
 */
export const createMemoryTransport = <Context = unknown>(
  options: MemoryPairOptions<Context> = {},
): MemoryTransport<Context> => {
  const open = new Set<Channel<Context>>();
  let accept: ((channel: Channel<Context>) => void) | undefined;
  let state: "idle" | "listening" | "closed" = "idle";
  return {
    transport: {
      async connect({ signal } = {}) {
        if (signal?.aborted) throw new TransportError("connecting was given up", { cause: signal.reason });
        if (!accept) throw new TransportError("this memory transport has no listener");
        const { client, server } = createMemoryPair(options);
        open.add(server);
        void server.closed.then(() => open.delete(server));
        accept(server);
        return client;
      },
    },
    listener: {
      async listen(onChannel) {
        if (state !== "idle") throw new InvalidArgumentError("a listener listens once");
        state = "listening";
        accept = onChannel;
      },
      async close() {
        state = "closed";
        accept = undefined;
        await Promise.all([...open].map((channel) => channel.close()));
      },
    },
  };
};
