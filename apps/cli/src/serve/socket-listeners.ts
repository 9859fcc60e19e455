import { lstat } from "node:fs/promises";
import { createUnixListener } from "@harnesskit/transport-uds";
import type { Channel } from "@harnesskit/wire";
import { socketPathOf, toSocketFailure } from "../endpoint.ts";

const lookEveryMs = 3_000;

const identify = async (path: string): Promise<string> => {
  const { dev, ino, birthtimeNs } = await lstat(path, { bigint: true });
  return `${dev}:${ino}:${birthtimeNs}`;
};

const missing = "missing";

const isPathGone = (error: unknown): boolean =>
  error instanceof Error && ["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "");

/**
 * Looks now and then whether the file at the path is still the one that is there now, and calls `onGone` once when it
 * is not. Keeps no process alive. Returns what ends the watch.
 */
const watchSocket = (path: string, onGone: () => void): (() => void) => {
  let own: string | undefined;
  let isOver = false;
  const stop = () => {
    isOver = true;
    clearInterval(timer);
  };
  const look = async () => {
    const found = await identify(path).catch((error: unknown) => (isPathGone(error) ? missing : own));
    own ??= found;
    if (isOver || (found === own && found !== missing)) return;
    stop();
    onGone();
  };
  const timer = setInterval(() => void look(), lookEveryMs).unref();
  void look();
  return stop;
};

/**
 * Listens on each `unix:PATH`, or on none: when one cannot be opened, the others are closed. Rejects with a usage
 * error, or one that says `unavailable`.
 */
export const openSocketListeners = async (
  endpoints: readonly string[],
  accept: (channel: Channel) => void,
  onGone: (endpoint: string) => void,
  onError: (error: Error) => void,
): Promise<{ readonly endpoints: readonly string[]; close(): Promise<void> }> => {
  const paths = endpoints.map((endpoint) => socketPathOf(endpoint, "--listen"));
  const open: ReturnType<typeof createUnixListener>[] = [];
  let watches: (() => void)[] = [];
  const close = async () => {
    for (const unwatch of watches) unwatch();
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
  const listening = open.map(({ endpoint = "" }) => endpoint);
  watches = listening.map((endpoint) =>
    watchSocket(socketPathOf(endpoint, "--listen"), () => onGone(endpoint)),
  );
  return { endpoints: listening, close };
};
