import { maxMessageDepth } from "@harnesskit/protocol/base";

/** The most that one connection may use. */
export interface WireLimits {
  /** Bytes of one message, in either direction. @default 4194304 (4 MiB) */
  readonly maxFrameBytes: number;
  /** How deep objects and arrays of one message may nest. @default 80: a value of 64 levels and its envelope */
  readonly maxDepth: number;
  /** Bytes that wait for a slow reader before `send` refuses with `buffer_full`. @default 16777216 (16 MiB) */
  readonly maxBufferedBytes: number;
}

export const defaultWireLimits: WireLimits = {
  maxFrameBytes: 4 * 1024 * 1024,
  maxDepth: maxMessageDepth,
  maxBufferedBytes: 16 * 1024 * 1024,
};
