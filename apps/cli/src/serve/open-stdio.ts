import { fstatSync, statSync } from "node:fs";
import { devNull } from "node:os";
import type { Channel } from "@harnesskit/wire";
import { io, processIo } from "../io.ts";

/**
 * Standard input and output as a channel. From here on nothing but the protocol reaches standard output, whatever the
 * rest prints when it is loaded. The channel closes when the parent process is gone, unless this one `outlives` it.
 */
export const openStdio = async ({ outlives }: { readonly outlives: boolean }): Promise<Channel> => {
  ignoreLostReader();
  const { createStdioChannel } = await import("@harnesskit/transport-stdio");
  return createStdioChannel({ ...ownStreams(), watchParent: !outlives });
};

/** Where a channel reads and writes that is not of this process. */
export const ownStreams = () => {
  const { stdin, stdout } = io();
  return stdout === process.stdout ? {} : { input: stdin, output: stdout };
};

/** Standard output that cannot be written is reported by the channel that uses it, if one does. */
export const ignoreLostReader = (): void => {
  io()
    .stdout.removeAllListeners("error")
    .on("error", () => {});
};

/**
 * True where no client is behind standard input: it is a terminal, or the null device. Service managers, `nohup`, and
 * shells that start a job in the background give a process the null device; Node opens it where standard input was
 * closed at the start.
 */
export const isService = (): boolean => io().stdin.isTTY === true || isNullDevice();

/** True where standard input is that of this process, and the null device. */
export const isNullDevice = (): boolean => {
  if (io() !== processIo) return false;
  try {
    // With numbers in place of bigints, Node loads no module behind a link once a pipe was found.
    const input = fstatSync(0, { bigint: true });
    return input.isCharacterDevice() && input.rdev === statSync(devNull, { bigint: true }).rdev;
  } catch {
    return false;
  }
};
