import { lstat } from "node:fs/promises";

/** How often it is looked whether a socket is still there. */
const lookEveryMs = 3_000;

/** Which file lies at a path. A number of a file that was removed can be that of the next one. */
const identify = async (path: string): Promise<string> => {
  const { dev, ino, birthtimeNs } = await lstat(path, { bigint: true });
  return `${dev}:${ino}:${birthtimeNs}`;
};

const missing = "missing";

const isMissing = (error: unknown): boolean =>
  error instanceof Error && ["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "");

/**
 * Looks now and then whether the file at the path is still the one that is there now, and calls `onGone` once when it
 * is not. Keeps no process alive. Returns what ends the watch.
 */
export const watchSocket = (path: string, onGone: () => void): (() => void) => {
  let own: string | undefined;
  let isOver = false;
  const stop = () => {
    isOver = true;
    clearInterval(timer);
  };
  const look = async () => {
    const found = await identify(path).catch((error: unknown) => (isMissing(error) ? missing : own));
    own ??= found;
    if (isOver || (found === own && found !== missing)) return;
    stop();
    onGone();
  };
  const timer = setInterval(() => void look(), lookEveryMs).unref();
  void look();
  return stop;
};
