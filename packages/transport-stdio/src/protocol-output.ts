import { fstatSync } from "node:fs";
import { Socket } from "node:net";
import { Writable } from "node:stream";
import type { StdoutGuard } from "./stdout-guard.ts";

const stdoutFd = 1;

/** Everything through `process.stdout` as it was before the guard. */
const throughOriginal = (write: StdoutGuard["write"]): Writable =>
  new Writable({
    decodeStrings: false,
    write(chunk: Uint8Array | string, encoding, done) {
      if (typeof chunk === "string") write(chunk, encoding, done);
      else write(chunk, done);
    },
  });

const isPipe = (): boolean => {
  // As bigints: Node 20 keeps the numbers of the last stat where its module loader reads them again.
  const stat = fstatSync(stdoutFd, { bigint: true });
  return stat.isFIFO() || stat.isSocket();
};

/**
 * A socket of its own on the pipe: its writes wait in the event loop, whatever mode `process.stdout` is in. libuv
 * leaves the standard descriptors open when their handles close.
 */
const openPipe = (): Writable | undefined => {
  try {
    return new Socket({ fd: stdoutFd, readable: false, writable: true });
  } catch {
    return undefined;
  }
};

/**
 * Where the protocol writes: on a pipe, a stream on file descriptor 1 whose writes never block the event loop on a reader
 * that does not read. The descriptor itself stays open until the process ends.
 */
export const openProtocolOutput = (guard: StdoutGuard): Writable => {
  // What was written before still waits in the original stream; only there the order is kept.
  const isOwn = isPipe() && process.stdout.writableLength === 0;
  return (isOwn ? openPipe() : undefined) ?? throughOriginal(guard.write);
};
