import { createUnixListener } from "@harnesskit/transport-uds";
import type { Channel } from "@harnesskit/wire";
import { socketPathOf, toSocketFailure } from "../endpoint.ts";
import { watchSocket } from "./socket-watch.ts";

/** The sockets of a server. */
export interface SocketListeners {
  /** Where it listens, in the order of the command line. */
  readonly endpoints: readonly string[];
  /** Closes what is open and removes the sockets. */
  close(): Promise<void>;
}

export interface SocketListenerHandlers {
  /** Takes the channel of each client. */
  readonly accept: (channel: Channel) => void;
  /** Somebody removed or replaced the socket of this endpoint: nobody can connect to it any more. */
  readonly onGone: (endpoint: string) => void;
}

/**
 * Listens on each `unix:PATH`, or on none: when one cannot be had, the others are given back. Rejects with a usage
 * error, or one that says `unavailable`.
 */
export const openSocketListeners = async (
  endpoints: readonly string[],
  { accept, onGone }: SocketListenerHandlers,
): Promise<SocketListeners> => {
  const paths = endpoints.map((endpoint) => socketPathOf(endpoint, "--listen"));
  const open: ReturnType<typeof createUnixListener>[] = [];
  let watches: (() => void)[] = [];
  const close = async () => {
    for (const unwatch of watches) unwatch();
    await Promise.all(open.map((listener) => listener.close()));
  };
  try {
    for (const path of paths) {
      const listener = createUnixListener({ path });
      await listener.listen(accept);
      open.push(listener);
    }
  } catch (error) {
    await close();
    throw toSocketFailure(error, "--listen");
  }
  const listening = open.map(({ endpoint = "" }) => endpoint);
  watches = listening.map((endpoint) =>
    watchSocket(socketPathOf(endpoint, "--listen"), () => onGone(endpoint)),
  );
  return { endpoints: listening, close };
};
