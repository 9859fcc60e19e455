import type { ChildProcessByStdio } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { OutputLines } from "@harnesskit/node-kit";
import {
  type BytePipe,
  type ByteReceiver,
  type Clock,
  createDeferred,
  displayText,
  type HarnessError,
  TransportError,
} from "@harnesskit/wire";
import { type ChildExit, ChildExitError } from "./errors.ts";
import { ProcessGroup } from "./process-group.ts";

export interface ChildPipeOptions {
  readonly command: string;
  readonly clock: Clock;
  /** How long output is read after the exit. */
  readonly drainTimeoutMs: number;
  readonly killTimeoutMs: number;
  readonly stderr: "inherit" | "ignore" | ((line: string) => void);
}

/** How long the exit may come behind the end of the output before that is an end of its own. */
const exitGraceMs = 250;
/** What is kept of the end of standard error, and where a line of it is cut. */
const stderrLimits = { maxTailBytes: 8192, maxLineLength: 8192 };
/** What may wait for a slow reader of this process's standard error; beyond that, output of children is dropped. */
const maxForwardedBytes = 1024 * 1024;

const forward = (chunk: Buffer): void => {
  if (process.stderr.writableLength < maxForwardedBytes) process.stderr.write(chunk);
};

/**
 * A child process as a byte pipe. `end` ends its input, `destroy` asks its group to terminate and then kills it.
 * It is closed when the process is gone and its output was read to the end.
 */
export class ChildPipe implements BytePipe {
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #options: ChildPipeOptions;
  readonly #group: ProcessGroup;
  readonly #stderr: OutputLines;
  readonly #exit = createDeferred<ChildExit>();
  readonly #timers: (() => void)[] = [];
  #receiver: ByteReceiver | undefined;
  /** What came before the start. */
  readonly #early: Uint8Array[] = [];
  /** The end of the output waits until its reader goes on. */
  #isHeld = true;
  /** Output is read on and thrown away, so that the child can end. */
  #isDropped = false;
  #hasOutputEnded = false;
  /** All output was handed over or dropped. */
  #isReadOut = false;
  #status: { code: number | null; signal: NodeJS.Signals | null } | undefined;
  #failure: HarnessError | undefined;
  #isEnding = false;
  #isDestroyed = false;
  #isClosed = false;

  constructor(
    child: ChildProcessByStdio<Writable, Readable, Readable>,
    pid: number,
    options: ChildPipeOptions,
  ) {
    this.#child = child;
    this.#options = options;
    this.#group = new ProcessGroup(child, pid);
    const { stdin, stdout, stderr } = child;
    stdin.on("error", (cause) => this.#inputFailed(cause));
    stdout.pause();
    stdout.on("data", (chunk: Uint8Array) => this.#received(chunk));
    stdout.on("error", () => {});
    for (const event of ["end", "close"]) stdout.on(event, () => this.#outputEnded());
    if (options.stderr === "inherit") stderr.on("data", forward);
    this.#stderr = new OutputLines(stderr, {
      ...stderrLimits,
      onLine: typeof options.stderr === "function" ? options.stderr : undefined,
      onDone: () => this.#settle(),
    });
    child.on("error", () => {});
    child.once("exit", (code, signal) => this.#exited(code, signal));
  }

  /** Settles when the process is gone. */
  get exit(): Promise<ChildExit> {
    return this.#exit.promise;
  }

  start(receiver: ByteReceiver): void {
    this.#receiver = receiver;
    this.#isHeld = false;
    for (const chunk of this.#early.splice(0)) receiver.bytes(chunk);
    if (!this.#isHeld) this.#release();
    this.#settle();
  }

  pause(): void {
    if (this.#isDropped) return;
    this.#isHeld = true;
    this.#child.stdout.pause();
  }

  resume(): void {
    if (this.#receiver) this.#release();
  }

  write(data: Uint8Array | string, done: (error?: Error | null) => void): void {
    this.#child.stdin.write(data, (error) => {
      if (!error) return done();
      // A child that no longer reads ends, or is ended: how it ended says more than that the write failed.
      void this.exit.then(() => done(error));
    });
  }

  end(): void {
    this.#isEnding = true;
    this.#child.stdin.end();
    this.#drop();
  }

  destroy(): void {
    if (this.#isDestroyed) return;
    this.#isDestroyed = true;
    this.#isEnding = true;
    this.#drop();
    this.#group.signal("SIGTERM");
    this.#child.stdin.destroy();
    if (!this.#status) this.#after(this.#options.killTimeoutMs, () => this.kill());
  }

  /** Kills the group at once. */
  kill(): void {
    this.#isDestroyed = true;
    this.#isEnding = true;
    this.#group.signal("SIGKILL");
    this.#drop();
  }

  #received(chunk: Uint8Array): void {
    if (this.#isDropped) return;
    // Node lets the output of a process that ended flow, paused or not: what it left behind may write on.
    if (this.#isHeld) this.#child.stdout.pause();
    if (this.#receiver) this.#receiver.bytes(chunk);
    else this.#early.push(chunk);
  }

  #drop(): void {
    this.#isDropped = true;
    this.#early.length = 0;
    this.#release();
  }

  #release(): void {
    this.#isHeld = false;
    if (this.#hasOutputEnded) this.#readOut();
    else this.#child.stdout.resume();
  }

  #outputEnded(): void {
    this.#hasOutputEnded = true;
    if (!this.#isHeld) this.#readOut();
  }

  /** An end that the exit follows is not worth reporting; one that the process outlives is an end of its own. */
  #readOut(): void {
    if (this.#isReadOut) return;
    this.#isReadOut = true;
    if (this.#status || this.#isEnding) this.#settle();
    else this.#after(exitGraceMs, () => this.#receiver?.end());
  }

  #exited(code: number | null, signal: NodeJS.Signals | null): void {
    this.#group.dissolve();
    this.#status = { code, signal };
    this.#cancelTimers();
    // A process outside of the group may hold the streams open for ever.
    this.#after(this.#options.drainTimeoutMs, () => {
      this.#child.stdout.destroy();
      this.#drop();
      this.#stderr.destroy();
    });
    this.#settle();
  }

  /** A child that no longer reads, and does not end, is of no use. */
  #inputFailed(cause: unknown): void {
    if (this.#status || this.#isEnding) return;
    this.#after(exitGraceMs, () => {
      const text = `the child process "${this.#command}" closed its standard input`;
      this.#failure = new TransportError(text, { cause });
      this.destroy();
    });
  }

  get #command(): string {
    return displayText(this.#options.command, { maxLength: 200 });
  }

  #after(delayMs: number, callback: () => void): void {
    this.#timers.push(this.#options.clock.after(delayMs, callback));
  }

  #cancelTimers(): void {
    for (const cancel of this.#timers.splice(0)) cancel();
  }

  #settle(): void {
    if (!this.#status || !this.#stderr.isDone || this.#isClosed) return;
    const exit = { ...this.#status, stderrTail: this.#stderr.tail };
    this.#exit.resolve(exit);
    if (!this.#receiver || !this.#isReadOut) return;
    this.#isClosed = true;
    this.#cancelTimers();
    this.#child.stdin.destroy();
    const failure = exit.code === 0 ? undefined : new ChildExitError(this.#command, exit);
    this.#receiver.closed(this.#failure ?? failure);
  }
}
