import { statSync } from "node:fs";
import { mkdir, mkdtemp, readdir, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Channel, CloseReason, HarnessError } from "../packages/wire/src/index.ts";

export { freePort } from "../conformance/src/target/place.ts";

/** Milliseconds that a test waits for a condition: on a busy machine a second passes quickly. */
const timeoutMs = 15_000;

/** Lets all callbacks run that wait for no timer: promises, microtasks and what is queued for the next turn. */
export const nextTurn = async (turns = 1): Promise<void> => {
  for (let turn = 0; turn < turns; turn++) await new Promise<void>((resolve) => setImmediate(resolve));
};

/** Waits until the condition holds. Rejects after 15 seconds, with `what` in the message. */
export const until = async (
  condition: () => boolean | Promise<boolean>,
  what = "the condition",
): Promise<void> => {
  const startedMs = performance.now();
  for (let round = 0; !(await condition()); round++) {
    if (performance.now() - startedMs > timeoutMs)
      throw new Error(`${what} does not hold after ${timeoutMs} ms`);
    await (round < 20 ? nextTurn() : sleep(5));
  }
};

/** Sends a signal to a process. Throws `RangeError` where there is no id: 0 would be this process and all of its group. */
export const killProcess = (pid: number | undefined, signal: NodeJS.Signals = "SIGKILL"): void => {
  if (pid === undefined || !(pid > 0)) throw new RangeError(`${pid} is no process`);
  process.kill(pid, signal);
};

/** A new directory below the system's temporary one; it is removed at the end of the scope. */
export const temporaryDirectory = async () => {
  const path = await realpath(await mkdtemp(join(tmpdir(), "harness-test-")));
  return {
    path,
    names: async (): Promise<string[]> => (await readdir(path)).sort(),
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }),
  };
};

/**
 * Makes a module behind a link, as pnpm installs it, that needs another one; returns a function that loads it. Node's realpath stops at a
 * part of a path that it knows where the last look at a file, by `stat`, `lstat` or `rm`, found a socket: then such a module does
 * not find what it needs. So this tells whether what was done before the load looked at a socket.
 */
export const linkedModule = async (directory: string): Promise<() => unknown> => {
  const store = join(directory, "store/node_modules");
  await mkdir(join(store, "first"), { recursive: true });
  await mkdir(join(store, "second"));
  await writeFile(join(store, "first/index.js"), 'module.exports = require("second");');
  await writeFile(join(store, "second/index.js"), 'module.exports = "found";');
  await symlink(join(store, "first"), join(directory, "first"));
  const require = createRequire(import.meta.url);
  require(join(store, "second/index.js"));
  // What was found before does not count.
  statSync(directory);
  return () => require(join(directory, "first/index.js"));
};

/** Counts milliseconds of processor time that this process uses from now on: other work on the machine does not count. */
export const cpuTimer = (): (() => number) => {
  const before = process.cpuUsage();
  return () => {
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  };
};

/** The typed error that a promise was rejected with; fails where it was not. */
export const rejection = async (promise: Promise<unknown>): Promise<HarnessError> => {
  const error = await promise.then(
    () => "nothing",
    (cause: unknown) => cause,
  );
  if (!(error instanceof Error)) throw new TypeError(`rejected with ${error}`);
  return error as HarnessError;
};

/** What a function throws; fails where it does not. */
export const thrown = (run: () => unknown): HarnessError => {
  try {
    run();
  } catch (error) {
    return error as HarnessError;
  }
  throw new Error("nothing was thrown");
};

/** Starts a channel and writes down what it reports; with `onEnd` its handlers know an end. */
export const record = (channel: Channel, { onEnd }: { readonly onEnd?: () => void } = {}) => {
  const log = {
    messages: [] as unknown[],
    errors: [] as HarnessError[],
    /** All of it by its name or code, in its order. */
    events: [] as string[],
    closed: undefined as CloseReason | undefined,
    untilMessages: (count: number) => until(() => log.messages.length >= count),
  };
  channel.start({
    message: (message) => {
      log.messages.push(message);
      log.events.push("message");
    },
    error: (error) => {
      log.errors.push(error);
      log.events.push(error.code);
    },
    end:
      onEnd &&
      (() => {
        log.events.push("end");
        onEnd();
      }),
    close: (reason) => {
      log.closed = reason;
      log.events.push("close");
    },
  });
  return log;
};
