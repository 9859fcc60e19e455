import { createUnixListener } from "@harnesskit/transport-uds";
import type { Channel } from "@harnesskit/wire";
import { socketPathOf, toSocketFailure } from "../endpoint.ts";

/** The sockets of a server. */
export interface SocketListeners {
  /** Where it listens, in the order of the command line. */
  readonly endpoints: readonly string[];
  /** Closes what is open and removes the sockets. */
  close(): Promise<void>;
}

/**
 * Listens on each `unix:PATH`, or on none: when one cannot be had, the others are given back. Rejects with a usage
 * error, or one that says `unavailable`.
 */
export const openSocketListeners = async (
  endpoints: readonly string[],
  accept: (channel: Channel) => void,
): Promise<SocketListeners> => {
  const paths = endpoints.map((endpoint) => socketPathOf(endpoint, "--listen"));
  const open: ReturnType<typeof createUnixListener>[] = [];
  const close = async () => {
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
  return { endpoints: open.map(({ endpoint = "" }) => endpoint), close };
};
