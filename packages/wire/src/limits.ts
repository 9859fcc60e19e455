/** What one connection may use at the most. */
export interface WireLimits {
  /** Bytes of one message, in either direction. @default 4194304 (4 MiB) */
  readonly maxFrameBytes: number;
  /** How deep objects and arrays of one message may nest. @default 64 */
  readonly maxDepth: number;
  /** Bytes that wait for a slow reader before `send` refuses with `buffer_full`. @default 16777216 (16 MiB) */
  readonly maxBufferedBytes: number;
}

export const defaultWireLimits: WireLimits = {
  maxFrameBytes: 4 * 1024 * 1024,
  maxDepth: 64,
  maxBufferedBytes: 16 * 1024 * 1024,
};
