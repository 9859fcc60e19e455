import { createUnixListener } from "@harnesskit/transport-uds";
import type { Channel } from "@harnesskit/wire";
import { socketPathOf, toSocketFailure } from "../endpoint.ts";

/**
 * Listens on each `unix:PATH`, or on none: when one cannot be opened, the others are closed. Rejects with a usage
 * error, or one that says `unavailable`.
 */
export const openSocketListeners = async (
  endpoints: readonly string[],
  accept: (channel: Channel) => void,
  onError: (error: Error) => void,
): Promise<{ readonly endpoints: readonly string[]; close(): Promise<void> }> => {
  const paths = endpoints.map((endpoint) => socketPathOf(endpoint, "--listen"));
  const open: ReturnType<typeof createUnixListener>[] = [];
  const close = async () => {
    await Promise.all(open.map((listener) => listener.close()));
  };
  try {
    for (const path of paths) {
      const listener = createUnixListener({ path, onError });
      await listener.listen(accept);
      open.push(listener);
    }
  } catch (error) {
    await close();
    throw toSocketFailure(error, "--listen");
  }
  return { endpoints: open.map(({ endpoint = "" }) => endpoint), close };
};
