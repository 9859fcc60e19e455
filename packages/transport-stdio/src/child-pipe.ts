import type { ChildProcessByStdio } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import type { OutputLines } from "@harnesskit/node-kit";
import {
  type BytePipe,
  type ByteReceiver,
  type Clock,
  createDeferred,
  type HarnessError,
  TransportError,
} from "@harnesskit/wire";
import { type ChildExit, ChildExitError } from "./errors.ts";
import { HeldOutput } from "./held-output.ts";
import { ProcessGroup } from "./process-group.ts";
import { readStderr, type StderrTarget } from "./read-stderr.ts";

export interface ChildPipeOptions {
  readonly child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly pid: number;
  /** The command's name, safe to show. */
  readonly command: string;
  readonly clock: Clock;
  readonly killTimeoutMs: number;
  readonly drainTimeoutMs: number;
  readonly exitGraceMs: number;
  readonly stderr: StderrTarget;
  readonly maxStderrBytes: number;
}

/**
 * A child process as a byte pipe. `end` ends its input, `destroy` asks its group to terminate and then kills it.
 * It is closed when the process is gone and its output was read to the end.
 */
export class ChildPipe implements BytePipe {
  readonly exit: Promise<ChildExit>;
  readonly #options: ChildPipeOptions;
  readonly #group: ProcessGroup;
  readonly #output: HeldOutput;
  readonly #stderr: OutputLines;
  readonly #settleExit: (exit: ChildExit) => void;
  readonly #timers: (() => void)[] = [];
  #receiver: ByteReceiver | undefined;
  #status: { code: number | null; signal: NodeJS.Signals | null } | undefined;
  #failure: HarnessError | undefined;
  #ending = false;
  #destroyed = false;
  #closed = false;

  constructor(options: ChildPipeOptions) {
    this.#options = options;
    const { child, pid } = options;
    const exit = createDeferred<ChildExit>();
    this.exit = exit.promise;
    this.#settleExit = exit.resolve;
    this.#group = new ProcessGroup(child, pid);
    this.#output = new HeldOutput(child.stdout, {
      bytes: (chunk) => this.#receiver?.bytes(chunk),
      end: () => this.#outputEnded(),
    });
    this.#stderr = readStderr(child.stderr, {
      target: options.stderr,
      maxTailBytes: options.maxStderrBytes,
      onDone: () => this.#settle(),
    });
    child.stdin.on("error", (cause) => this.#inputFailed(cause));
    child.on("error", () => {});
    child.once("exit", (code, signal) => this.#exited(code, signal));
  }

  start(receiver: ByteReceiver): void {
    this.#receiver = receiver;
    this.#output.release();
    this.#settle();
  }

  pause(): void {
    this.#output.hold();
  }

  resume(): void {
    if (this.#receiver) this.#output.release();
  }

  write(data: Uint8Array | string, done: (error?: Error | null) => void): void {
    this.#options.child.stdin.write(data, (error) => {
      if (!error) return done();
      // A child that no longer reads ends, or is ended: how it ended says more than that the write failed.
      void this.exit.then(() => done(error));
    });
  }

  end(): void {
    this.#ending = true;
    this.#options.child.stdin.end();
    this.#output.drop();
  }

  destroy(): void {
    if (this.#destroyed) return;
    this.#destroyed = true;
    this.#ending = true;
    this.#output.drop();
    this.#group.signal("SIGTERM");
    this.#options.child.stdin.destroy();
    if (!this.#status) this.#after(this.#options.killTimeoutMs, () => this.kill());
  }

  /** Kills the group at once. */
  kill(): void {
    this.#destroyed = true;
    this.#ending = true;
    this.#group.signal("SIGKILL");
    this.#output.drop();
  }

  #exited(code: number | null, signal: NodeJS.Signals | null): void {
    this.#group.dissolve();
    this.#status = { code, signal };
    this.#cancelTimers();
    // A process outside of the group may hold the streams open for ever.
    this.#after(this.#options.drainTimeoutMs, () => {
      this.#output.destroy();
      this.#stderr.destroy();
    });
    this.#settle();
  }

  /** An end that the exit follows is not worth telling; one that the process outlives is an end of its own. */
  #outputEnded(): void {
    if (this.#status || this.#ending) this.#settle();
    else this.#after(this.#options.exitGraceMs, () => this.#receiver?.end());
  }

  /** A child that no longer reads, and does not end, is of no use. */
  #inputFailed(cause: unknown): void {
    if (this.#status || this.#ending) return;
    this.#after(this.#options.exitGraceMs, () => {
      this.#failure = new TransportError(
        `the child process "${this.#options.command}" closed its standard input`,
        { cause },
      );
      this.destroy();
    });
  }

  #after(delayMs: number, callback: () => void): void {
    this.#timers.push(this.#options.clock.after(delayMs, callback));
  }

  #cancelTimers(): void {
    for (const cancel of this.#timers.splice(0)) cancel();
  }

  #settle(): void {
    const status = this.#status;
    if (!status || !this.#stderr.isDone || this.#closed) return;
    const exit = { ...status, stderrTail: this.#stderr.tail };
    this.#settleExit(exit);
    if (!this.#receiver || !this.#output.done) return;
    this.#closed = true;
    this.#cancelTimers();
    this.#options.child.stdin.destroy();
    const failed = exit.code !== 0;
    this.#receiver.closed(
      this.#failure ?? (failed ? new ChildExitError(this.#options.command, exit) : undefined),
    );
  }
}
