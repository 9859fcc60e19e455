import { InvalidArgumentError } from "@harnesskit/wire";

const marker = Symbol.for("harnesskit.stdout-guard");

/** Standard output as the protocol's own: all other writes go to standard error. */
export interface StdoutGuard {
  /** Writes that were diverted so far. */
  readonly strayWrites: number;
  /** `process.stdout.write` as it was. */
  readonly write: typeof process.stdout.write;
  /**
   * Gives `process.stdout.write` back. Idempotent. With `broken`, later writes to it fail without a word, as nothing
   * reads them, instead of ending the process with an unhandled EPIPE.
   */
  restore(broken: boolean): void;
}

const doNothing = () => {};

/**
 * Takes standard output over for the protocol. The first stray write is announced on standard error. Throws
 * `invalid_argument` when this process has such a guard already. Writes past `process.stdout`, as
 * `fs.writeSync(1, …)`, cannot be diverted.
 */
export const guardStdout = (): StdoutGuard => {
  const { stdout, stderr } = process;
  if (marker in stdout.write) {
    throw new InvalidArgumentError("this process has a channel on its standard output already");
  }
  const own = Object.getOwnPropertyDescriptor(stdout, "write");
  const original = stdout.write;
  let strayWrites = 0;
  let active = true;

  function divert(...args: Parameters<typeof process.stdout.write>): boolean {
    if (!active) return original.apply(stdout, args);
    strayWrites++;
    if (strayWrites === 1) {
      stderr.write("standard output carries a protocol: what else is written there goes to standard error\n");
    }
    return stderr.write(...args);
  }
  Object.defineProperty(divert, marker, { value: true });

  // A diverted write must not end the process when standard error is not read.
  stderr.on("error", doNothing);
  stdout.on("error", doNothing);
  const guard = divert as typeof process.stdout.write;
  stdout.write = guard;
  return {
    get strayWrites() {
      return strayWrites;
    },
    write: original.bind(stdout) as typeof process.stdout.write,
    restore(broken) {
      if (!active) return;
      active = false;
      stderr.off("error", doNothing);
      if (!broken) stdout.off("error", doNothing);
      // Other code may have wrapped the guard since; then it stays, and lets everything pass.
      if (stdout.write !== guard) return;
      if (own) Object.defineProperty(stdout, "write", own);
      else Reflect.deleteProperty(stdout, "write");
    },
  };
};
