import { HarnessError } from "@harnesskit/wire";

/** How a child process ended. */
export interface ChildExit {
  /** The exit code, or null when a signal ended it. */
  readonly code: number | null;
  /** The signal that ended it, or null. */
  readonly signal: NodeJS.Signals | null;
  /** The last lines of its standard error, bounded, with everything invisible or misleading written out. */
  readonly stderrTail: string;
}

/** The child process ended with a failure while its channel was open. */
export class ChildExitError extends HarnessError {
  static override readonly brand = "ChildExitError";
  readonly signal: NodeJS.Signals | null;
  readonly stderrTail: string;
  readonly exitCode: number | null;

  constructor(command: string, exit: ChildExit) {
    const how = exit.signal === null ? `with code ${exit.code}` : `by ${exit.signal}`;
    super("child_exited", `the child process "${command}" ended ${how} while it was in use`);
    this.exitCode = exit.code;
    this.signal = exit.signal;
    this.stderrTail = exit.stderrTail;
  }
}

/** The process that started this one is gone: there is no client left. */
export class ParentGoneError extends HarnessError {
  static override readonly brand = "ParentGoneError";

  constructor(
    readonly parentId: number,
    options?: { cause?: unknown },
  ) {
    super("parent_gone", `the parent process ${parentId} is gone`, options);
  }
}
