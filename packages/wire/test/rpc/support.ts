import { onTestFinished } from "vitest";
import { nextTurn } from "../../../../test-kit/test-kit.ts";
import { type HarnessError, newlineCodec } from "../../src/index.ts";
import { createPeer, type Peer } from "../../src/rpc/index.ts";
import type { PeerHandlers, PeerOptions } from "../../src/rpc/peer-options.ts";
import { createManualClock, createMemoryPair, type MemoryPairOptions } from "../../src/testing/index.ts";

/** A settled promise, seen without its being an unhandled rejection. */
export const outcomeOf = (promise: Promise<unknown>) =>
  promise.then(
    (value) => ({ value }),
    (error: HarnessError) => ({ error }),
  );

export interface RawOptions extends PeerOptions {
  readonly pair?: MemoryPairOptions;
  readonly maxFrameBytes?: number;
}

/** A peer whose other side is the test itself, on the level of JSON messages. */
export const openRaw = (handlers: PeerHandlers = {}, options: RawOptions = {}) => {
  const clock = createManualClock();
  const unexpected: HarnessError[] = [];
  const { maxFrameBytes, pair, ...rest } = options;
  const { client, server, clientWire, serverWire } = createMemoryPair({
    clock,
    codec: newlineCodec(maxFrameBytes === undefined ? {} : { maxFrameBytes }),
    ...pair,
  });
  const sent: unknown[] = [];
  const state = { closed: false };
  client.start({
    message: (message) => {
      sent.push(message);
    },
    error: () => {},
    end: () => {},
    close: () => {
      state.closed = true;
    },
  });
  const peer = createPeer(
    server,
    { onError: (error) => void unexpected.push(error), ...handlers },
    { clock, ...rest },
  );
  onTestFinished(() => clientWire.kill());
  return {
    peer,
    clock,
    unexpected,
    /** What the peer has sent so far. */
    sent,
    state,
    /** Hands the peer a message and lets it work. Returns all it has sent. */
    async give(...messages: unknown[]): Promise<unknown[]> {
      for (const message of messages) await client.send(message);
      await nextTurn();
      return sent;
    },
    async giveText(text: string | Uint8Array): Promise<unknown[]> {
      clientWire.writeRaw(text);
      await nextTurn();
      return sent;
    },
    /** The test sends no more. */
    async end(): Promise<void> {
      clientWire.end();
      await nextTurn();
    },
    async kill(): Promise<void> {
      clientWire.kill();
      await nextTurn();
    },
    closeClient: () => client.close(),
    serverWire,
  };
};

/** Two peers on one memory pair. */
export const openPeers = (
  handlers: { client?: PeerHandlers; server?: PeerHandlers } = {},
  options: { client?: PeerOptions; server?: PeerOptions; pair?: MemoryPairOptions } = {},
): { client: Peer; server: Peer; clock: ReturnType<typeof createManualClock>; kill: () => void } => {
  const clock = createManualClock();
  const pair = createMemoryPair({ clock, ...options.pair });
  onTestFinished(() => pair.clientWire.kill());
  return {
    server: createPeer(pair.server, handlers.server, { clock, ...options.server }),
    client: createPeer(pair.client, handlers.client, { clock, ...options.client }),
    clock,
    kill: () => pair.clientWire.kill(),
  };
};

export const request = (id: unknown, method: string, params?: unknown) => ({
  jsonrpc: "2.0",
  id,
  method,
  ...(params !== undefined && { params }),
});
export const notification = (method: string, params?: unknown) => ({
  jsonrpc: "2.0",
  method,
  ...(params !== undefined && { params }),
});
export const result = (id: unknown, value: unknown) => ({ jsonrpc: "2.0", id, result: value });
export const error = (id: unknown, code: number, message = "no") => ({
  jsonrpc: "2.0",
  id,
  error: { code, message },
});
