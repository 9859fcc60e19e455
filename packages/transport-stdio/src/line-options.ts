import type { Clock } from "@harnesskit/wire";

/** What both ends of standard streams can set. */
export interface LineOptions {
  /** Bytes of one message. @default 4194304 (4 MiB) */
  readonly maxFrameBytes?: number | undefined;
  /** How deep a message may nest. @default 80 */
  readonly maxDepth?: number | undefined;
  /** Deliver each message as a `JsonLine` of `@harnesskit/wire`, with its line. @default false */
  readonly keepLines?: boolean | undefined;
  /** Bytes that may wait for a slow reader. @default 16777216 (16 MiB) */
  readonly maxBufferedBytes?: number | undefined;
  /** @default the real time */
  readonly clock?: Clock | undefined;
}

export const lineOptionNames = {
  maxFrameBytes: false,
  maxDepth: false,
  keepLines: false,
  maxBufferedBytes: false,
  clock: false,
} as const;
