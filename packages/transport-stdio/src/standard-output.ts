import { fstatSync } from "node:fs";
import { Socket } from "node:net";
import { Writable } from "node:stream";
import { InvalidArgumentError } from "@harnesskit/wire";

const marker = Symbol.for("harnesskit.stdout-guard");
const stdoutFd = 1;

const doNothing = () => {};

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
  // What was written before still waits in the original stream; only there the order is kept.
  if (process.stdout.writableLength > 0 || !isPipe()) return undefined;
  try {
    return new Socket({ fd: stdoutFd, readable: false, writable: true });
  } catch {
    return undefined;
  }
};

/** Everything through `process.stdout` as it was before. */
const throughOriginal = (write: typeof process.stdout.write): Writable =>
  new Writable({
    decodeStrings: false,
    write(chunk: Uint8Array | string, encoding, done) {
      if (typeof chunk === "string") write(chunk, encoding, done);
      else write(chunk, done);
    },
  });

/** Standard output as the protocol's own. */
export interface StandardOutput {
  /** On a pipe, its writes never block the event loop on a reader that does not read. */
  readonly stream: Writable;
  /**
   * Gives `process.stdout.write` back. With `isBroken`, later writes to it fail without a word, as nothing reads them,
   * instead of ending the process with an unhandled EPIPE.
   */
  release(isBroken: boolean): void;
}

/**
 * Takes standard output over for the protocol: all other writes go to standard error, where the first one is announced. Writes past
 * `process.stdout`, as `fs.writeSync(1, …)`, cannot be diverted. Throws `invalid_argument` when this process has taken it already, and
 * the system's error where it cannot be used.
 */
export const takeStandardOutput = (): StandardOutput => {
  const { stdout, stderr } = process;
  if (marker in stdout.write) {
    throw new InvalidArgumentError("this process has a channel on its standard output already");
  }
  const own = Object.getOwnPropertyDescriptor(stdout, "write");
  const original = stdout.write;
  const stream = openPipe() ?? throughOriginal(original.bind(stdout) as typeof original);
  let isActive = true;
  let isAnnounced = false;

  function divert(...args: Parameters<typeof process.stdout.write>): boolean {
    if (!isActive) return original.apply(stdout, args);
    if (!isAnnounced)
      stderr.write("standard output carries a protocol: what else is written there goes to standard error\n");
    isAnnounced = true;
    return stderr.write(...args);
  }
  Object.defineProperty(divert, marker, { value: true });

  // A diverted write must not end the process when standard error is not read.
  stderr.on("error", doNothing);
  stdout.on("error", doNothing);
  const guard = divert as typeof process.stdout.write;
  stdout.write = guard;
  return {
    stream,
    release(isBroken) {
      stream.destroy();
      isActive = false;
      stderr.off("error", doNothing);
      if (!isBroken) stdout.off("error", doNothing);
      // Other code may have wrapped the guard since; then it stays, and lets everything pass.
      if (stdout.write !== guard) return;
      if (own) Object.defineProperty(stdout, "write", own);
      else Reflect.deleteProperty(stdout, "write");
    },
  };
};
