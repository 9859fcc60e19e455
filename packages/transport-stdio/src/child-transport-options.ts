import type { Clock } from "@harnesskit/wire";
import type { ChildExit } from "./errors.ts";
import type { StderrTarget } from "./read-stderr.ts";

/** What a parent knows about the child at the other end. */
export interface ChildContext {
  readonly pid: number;
  /** Settles when the process is gone, whatever ended it; never rejects. */
  readonly exit: Promise<ChildExit>;
}

export interface ChildTransportOptions {
  /** The program: a path, or a name that is looked up on the PATH. Not run by a shell. */
  readonly command: string;
  /** @default [] */
  readonly args?: readonly string[] | undefined;
  /** @default the working directory of this process */
  readonly cwd?: string | undefined;
  /** What the child's environment holds in any case. @default {} */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /**
   * Names that the child inherits from this process, beside PATH, HOME, LANG, LC_*, LANGUAGE, TERM, SHELL, USER,
   * LOGNAME, TMPDIR and TZ. Nothing else is inherited. @default []
   */
  readonly inheritEnv?: readonly string[] | undefined;
  /** How long `close` waits for the child to end by itself; also how long its output is read after its end. @default 2000 */
  readonly closeTimeoutMs?: number | undefined;
  /** How long SIGTERM may take before SIGKILL. @default 2000 */
  readonly killTimeoutMs?: number | undefined;
  /** How long the child's exit may come behind the end of its output before that is an end of its own. @default 250 */
  readonly exitGraceMs?: number | undefined;
  /** Where the child's standard error goes. @default "inherit" */
  readonly stderr?: StderrTarget | undefined;
  /** Bytes of the child's standard error that are kept for the report of its exit. @default 8192 */
  readonly maxStderrBytes?: number | undefined;
  /** Bytes of one message. @default 4194304 (4 MiB) */
  readonly maxFrameBytes?: number | undefined;
  /** How deep a message may nest. @default 80 */
  readonly maxDepth?: number | undefined;
  /** Deliver each message as a `JsonLine` of `@harnesskit/wire`, with its line. @default false */
  readonly keepLines?: boolean | undefined;
  /** Bytes that may wait for a child that reads slowly. @default 16777216 (16 MiB) */
  readonly maxBufferedBytes?: number | undefined;
  /** @default the real time */
  readonly clock?: Clock | undefined;
}
