import type { Readable, Writable } from "node:stream";
import {
  type Channel,
  createByteChannel,
  createStreamPipe,
  defineOptions,
  HarnessError,
  newlineCodec,
  systemClock,
  TransportError,
} from "@harnesskit/wire";
import { ParentGoneError } from "./errors.ts";
import { type LineOptions, lineOptionNames } from "./line-options.ts";
import { type StandardOutput, takeStandardOutput } from "./standard-output.ts";

/** What a child process knows about its connection. */
export interface StdioContext {
  /** The id of the process that started this one. */
  readonly parentId: number;
}

export interface StdioChannelOptions extends LineOptions {
  /** Where messages come from. @default standard input */
  readonly input?: Readable | undefined;
  /** Where messages go; ended when the channel closes. @default standard output, which is then guarded */
  readonly output?: Writable | undefined;
  /**
   * How long `close` waits until everything was read. @default Infinity for standard output, because a slow reader
   * must lose nothing; 2000 for a given `output`
   */
  readonly closeTimeoutMs?: number | undefined;
  /** Close with `parent_gone` when the process that started this one is gone. @default true */
  readonly watchParent?: boolean | undefined;
}

const checkOptions = defineOptions<StdioChannelOptions>("createStdioChannel", {
  input: false,
  output: false,
  closeTimeoutMs: false,
  watchParent: false,
  ...lineOptionNames,
});

/** How often to look for the parent, and how long what is queued may take to leave once it is gone. */
const parentCheckMs = 1000;
const parentGoneTimeoutMs = 2000;

const problems = {
  input: "the input can no longer be read",
  output: "the output can no longer be written: its reader is gone",
};

const streamError = (cause: unknown, stream: "input" | "output"): TransportError =>
  new TransportError(problems[stream], { cause });

const takeOutput = (given: Writable | undefined): StandardOutput => {
  if (given) return { stream: given, release: () => void given.destroy() };
  try {
    return takeStandardOutput();
  } catch (cause) {
    throw HarnessError.isInstance(cause) ? cause : streamError(cause, "output");
  }
};

/**
 * The channel of this process to the one that started it: one JSON message a line on standard input and output.
 * From here until the channel closes, standard output belongs to the protocol, and what anything else writes there
 * goes to standard error. Returns a channel that is not started. Throws `invalid_argument` when this process has one
 * already, `transport_failed` when standard output cannot be used.
 *
 * The channel closes with `parent_gone` when the parent is gone and with `transport_failed` when a stream fails.
 * Once it is closed, nothing of it keeps the process alive.
 */
export const createStdioChannel = (options: StdioChannelOptions = {}): Channel<StdioContext> => {
  checkOptions(options);
  const { clock = systemClock, input = process.stdin, watchParent = true, maxBufferedBytes } = options;
  const ownsStdout = options.output === undefined;
  const output = takeOutput(options.output);

  const parentId = process.ppid;
  // An orphan gets another parent.
  const isOrphan = () => watchParent && process.ppid !== parentId;
  let stopWatching = () => {};
  const watch = () => {
    stopWatching = clock.after(parentCheckMs, () => {
      if (!isOrphan()) return watch();
      clock.after(parentGoneTimeoutMs, () => pipe.destroy());
      void channel.close(new ParentGoneError(parentId));
    });
  };

  const pipe = createStreamPipe({
    input,
    output: output.stream,
    endOutput: !ownsStdout,
    toError: (cause, stream) => {
      const error = streamError(cause, stream);
      return isOrphan() ? new ParentGoneError(parentId, { cause: error }) : error;
    },
    release: (error) => {
      stopWatching();
      // Standard input is only left, because its descriptor must stay open.
      if (options.input) input.destroy();
      else input.pause();
      output.release(error !== undefined);
    },
  });

  const channel = createByteChannel(pipe, {
    codec: newlineCodec(options),
    context: { parentId },
    clock,
    closeTimeoutMs: options.closeTimeoutMs ?? (ownsStdout ? Number.POSITIVE_INFINITY : 2000),
    maxBufferedBytes,
  });
  if (watchParent) watch();
  return channel;
};
