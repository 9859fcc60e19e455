import { type Channel, type ChannelHandlers, lengthPrefixCodec, newlineCodec } from "../../src/index.ts";
import type { ChannelProfile } from "../../src/testing/channel-contract.ts";
import { type ContractPair, createMemoryPair } from "../../src/testing/index.ts";

export const limits = { maxFrameBytes: 4096, maxBufferedBytes: 65_536 };
export const newline: ChannelProfile = {
  framing: "newline",
  halfClose: true,
  rawBytes: true,
  maxSystemBytes: 65_536,
  ...limits,
};
export const lengthPrefix: ChannelProfile = { ...newline, framing: "length-prefix" };
export const message: ChannelProfile = { ...newline, framing: "message" };

type Side = Partial<Channel> & { wrap?: (handlers: ChannelHandlers) => ChannelHandlers };
type Break = (channel: Channel, pair: ContractPair) => Side;

/** A channel with some of its manners replaced. */
const broken = (channel: Channel, { wrap, ...replaced }: Side): Channel => ({
  start: (handlers) => channel.start(wrap ? wrap(handlers) : handlers),
  send: (value) => channel.send(value),
  close: (error) => channel.close(error),
  closed: channel.closed,
  signal: channel.signal,
  context: channel.context,
  ...replaced,
});

export interface Broken {
  /** The end of the case's name. */
  readonly caught: string;
  readonly how: string;
  readonly client?: Break;
  readonly server?: Break;
  readonly pair?: (pair: ContractPair) => Partial<ContractPair>;
  readonly profile?: ChannelProfile;
  /** Limits of the real channels that are not those of the profile. */
  readonly actual?: Partial<typeof limits>;
}

const codecs = { newline: newlineCodec, "length-prefix": lengthPrefixCodec, message: newlineCodec };

export const makePair = (
  subject: Pick<Broken, "client" | "server" | "pair" | "profile" | "actual">,
): ContractPair => {
  const { framing } = subject.profile ?? newline;
  const own = { ...limits, ...subject.actual };
  const { client, server, clientWire } = createMemoryPair({
    codec: codecs[framing](own),
    maxBufferedBytes: own.maxBufferedBytes,
    capacityBytes: 1024,
  });
  const pair: ContractPair = {
    client,
    server,
    dispose: async () => clientWire.kill(),
    // The framing "message" stands for a transport that keeps messages apart by itself.
    writeRawToServer: (bytes) =>
      clientWire.writeRaw(framing === "message" ? new Uint8Array([...bytes, 10]) : bytes),
    endClient: () => clientWire.end(),
    killClient: () => clientWire.kill(),
  };
  return {
    ...pair,
    client: subject.client ? broken(client, subject.client(client, pair)) : client,
    server: subject.server ? broken(server, subject.server(server, pair)) : server,
    ...subject.pair?.(pair),
  };
};

/** Handlers of which one is another. */
export const replacing = (make: (handlers: ChannelHandlers) => Partial<ChannelHandlers>) => ({
  wrap: (handlers: ChannelHandlers): ChannelHandlers => ({
    message: (value) => handlers.message(value),
    error: (error) => handlers.error(error),
    ...(handlers.end && { end: () => handlers.end?.() }),
    close: (reason) => handlers.close(reason),
    ...make(handlers),
  }),
});

export const never = new Promise<void>(() => {});
