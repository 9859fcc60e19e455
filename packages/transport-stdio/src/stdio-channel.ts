import type { Readable, Writable } from "node:stream";
import {
  type Channel,
  type Clock,
  createByteChannel,
  createStreamPipe,
  newlineCodec,
  systemClock,
  TransportError,
} from "@harnesskit/wire";
import { ParentGoneError } from "./errors.ts";
import { checkStdioChannelOptions } from "./option-names.ts";
import { openProtocolOutput } from "./protocol-output.ts";
import { guardStdout } from "./stdout-guard.ts";

/** What a child process knows about its connection. */
export interface StdioContext {
  /** The id of the process that started this one. */
  readonly parentId: number;
  /** Writes to standard output that were no protocol messages and were sent to standard error. */
  readonly strayWrites: number;
}

export interface StdioChannelOptions {
  /** Where messages come from. @default standard input */
  readonly input?: Readable | undefined;
  /** Where messages go; ended when the channel closes. @default standard output, which is then guarded */
  readonly output?: Writable | undefined;
  /** Bytes of one message. @default 4194304 (4 MiB) */
  readonly maxFrameBytes?: number | undefined;
  /** How deep a message may nest. @default 80 */
  readonly maxDepth?: number | undefined;
  /** Deliver each message as a `JsonLine` of `@harnesskit/wire`, with its line. @default false */
  readonly keepLines?: boolean | undefined;
  /** Bytes that may wait for a slow reader. @default 16777216 (16 MiB) */
  readonly maxBufferedBytes?: number | undefined;
  /**
   * How long `close` waits until everything was read. @default Infinity for standard output, because a slow reader
   * must lose nothing; 2000 for a given `output`
   */
  readonly closeTimeoutMs?: number | undefined;
  /** Close with `parent_gone` when the process that started this one is gone. @default true */
  readonly watchParent?: boolean | undefined;
  /** The id of the parent process at the moment. @default process.ppid */
  readonly parentId?: (() => number) | undefined;
  /** @default the real time */
  readonly clock?: Clock | undefined;
}

/** How often to look for the parent, and how long what is queued may take to leave once it is gone. */
const parentCheckMs = 1000;
const parentGoneTimeoutMs = 2000;

interface Output {
  readonly stream: Writable;
  readonly strayWrites: number;
  release(broken: boolean): void;
}

const givenOutput = (stream: Writable): Output => ({
  stream,
  strayWrites: 0,
  release: () => void stream.destroy(),
});

const takeStdout = (): Output => {
  const guard = guardStdout();
  try {
    const stream = openProtocolOutput(guard);
    return {
      stream,
      get strayWrites() {
        return guard.strayWrites;
      },
      release(broken) {
        stream.destroy();
        guard.restore(broken);
      },
    };
  } catch (cause) {
    guard.restore(true);
    throw streamError(cause, "output");
  }
};

const streamError = (cause: unknown, stream: "input" | "output"): TransportError => {
  const text =
    stream === "input"
      ? "the input can no longer be read"
      : "the output can no longer be written: its reader is gone";
  return new TransportError(text, cause === undefined ? undefined : { cause });
};

/** A given stream is destroyed at the end. Standard input is only left, because its descriptor must stay open. */
const releaseInput = (input: Readable, given: boolean): void => {
  if (given) input.destroy();
  else input.pause();
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
  checkStdioChannelOptions(options);
  const { clock = systemClock, parentId = () => process.ppid } = options;
  const { input = process.stdin } = options;
  const ownsStdout = options.output === undefined;
  const output = options.output ? givenOutput(options.output) : takeStdout();

  const initialId = parentId();
  const watchesParent = options.watchParent ?? true;
  // An orphan gets another parent.
  const isOrphan = () => watchesParent && parentId() !== initialId;
  let stopWatching = () => {};
  const watchParent = () => {
    stopWatching = clock.after(parentCheckMs, () => {
      if (!isOrphan()) return watchParent();
      clock.after(parentGoneTimeoutMs, () => pipe.destroy());
      void channel.close(new ParentGoneError(initialId));
    });
  };

  const context: StdioContext = {
    parentId: initialId,
    get strayWrites() {
      return output.strayWrites;
    },
  };

  const pipe = createStreamPipe({
    input,
    output: output.stream,
    endOutput: !ownsStdout,
    toError: (cause, stream) => {
      const error = streamError(cause, stream);
      return isOrphan() ? new ParentGoneError(initialId, { cause: error }) : error;
    },
    release: (error) => {
      stopWatching();
      releaseInput(input, options.input !== undefined);
      output.release(error !== undefined);
    },
  });

  const { maxBufferedBytes } = options;
  const channel = createByteChannel(pipe, {
    codec: newlineCodec(options),
    context,
    clock,
    closeTimeoutMs: options.closeTimeoutMs ?? (ownsStdout ? Number.POSITIVE_INFINITY : 2000),
    maxBufferedBytes,
  });
  if (watchesParent) watchParent();
  return channel;
};
