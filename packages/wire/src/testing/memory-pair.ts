import { type BytePipe, createByteChannel } from "../byte-channel.ts";
import type { Channel } from "../channel.ts";
import type { Codec } from "../codec/codec.ts";
import { newlineCodec } from "../codec/newline-codec.ts";
import type { Clock } from "../time/clock.ts";
import { createMemoryPipes, type MemoryPipeOptions } from "./memory-pipe.ts";

export interface MemoryPairOptions<Context = unknown> extends MemoryPipeOptions {
  /** The framing. @default newline JSON with the default limits */
  readonly codec?: Codec | undefined;
  /** What the client's channel knows about the server. @default { transport: "memory" } */
  readonly clientContext?: Context | undefined;
  /** What the server's channel knows about the client. @default { transport: "memory" } */
  readonly serverContext?: Context | undefined;
  /** Bytes that may wait for a slow reader, on each side. @default 16777216 (16 MiB) */
  readonly maxBufferedBytes?: number | undefined;
  /** How long a close waits for the other side. @default 2000 */
  readonly closeTimeoutMs?: number | undefined;
  /** @default the real time */
  readonly clock?: Clock | undefined;
}

/** What happens below a channel: bytes that no codec wrote, an end, a cut. */
export interface MemoryWire {
  /** Sends these bytes as they are. */
  writeRaw(bytes: Uint8Array | string): void;
  /** Sends no more, and still reads. */
  end(): void;
  /** Is gone without a word. */
  kill(): void;
}

/** Two channels, each the other's other side. */
export interface MemoryPair<Context = unknown> {
  readonly client: Channel<Context>;
  readonly server: Channel<Context>;
  readonly clientWire: MemoryWire;
  readonly serverWire: MemoryWire;
}

const wireOf = (pipe: BytePipe): MemoryWire => ({
  writeRaw: (bytes) => pipe.write(bytes, () => {}),
  end: () => pipe.end(),
  kill: () => pipe.destroy(),
});

/**
 * Makes two linked channels within one process. Messages go through a real codec and a bounded byte pipe, so that
 * what passes here meets the same code as on a socket.
 */
export const createMemoryPair = <Context = unknown>(
  options: MemoryPairOptions<Context> = {},
): MemoryPair<Context> => {
  const { maxBufferedBytes, closeTimeoutMs, clock } = options;
  const [clientPipe, serverPipe] = createMemoryPipes(options);
  const shared = {
    codec: options.codec ?? newlineCodec(),
    maxBufferedBytes,
    closeTimeoutMs,
    clock,
  };
  const unnamed = { transport: "memory" } as Context;
  return {
    client: createByteChannel(clientPipe, { ...shared, context: options.clientContext ?? unnamed }),
    server: createByteChannel(serverPipe, { ...shared, context: options.serverContext ?? unnamed }),
    clientWire: wireOf(clientPipe),
    serverWire: wireOf(serverPipe),
  };
};
