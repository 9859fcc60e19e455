import type { Channel } from "../channel.ts";
import { ContractEnd } from "./contract-end.ts";
import { type ContractCase, toCases } from "./contract-error.ts";
import { deliveryCases } from "./delivery-cases.ts";
import { framingCases } from "./framing-cases.ts";
import { lifecycleCases } from "./lifecycle-cases.ts";

/** Two ends of one connection, not started, and what a test may do below them. */
export interface ContractPair {
  readonly client: Channel;
  readonly server: Channel;
  /** Closes what the pair opened. Called once after each case, also when it failed. */
  dispose(): Promise<void>;
  /** Sends bytes to the server that no channel wrote. Needed when the profile has `rawBytes`. */
  writeRawToServer?(bytes: Uint8Array): void | Promise<void>;
  /** The client sends no more, and still reads. Needed when the profile has `halfClose`. */
  endClient?(): void | Promise<void>;
  /** The client is gone without a word: its process is killed, its socket destroyed. */
  killClient(): void | Promise<void>;
}

/** What the transport can do, and how the pair is configured. */
export interface ChannelProfile {
  /** How messages are separated on the wire. `message`: the transport itself keeps them apart (WebSocket). */
  readonly framing: "newline" | "length-prefix" | "message";
  /** One side may stop sending and still read. */
  readonly halfClose: boolean;
  /** A test can send bytes of its own. With the framing `message` they are the content of one message. */
  readonly rawBytes: boolean;
  /** The limit that both channels of a pair were made with. 65536 is a good choice. */
  readonly maxFrameBytes: number;
  /** The limit that both channels of a pair were made with. 262144 is a good choice; at least 65536. */
  readonly maxBufferedBytes: number;
  /** More than what the operating system keeps of one connection. @default 16777216 (16 MiB) */
  readonly maxSystemBytes?: number;
}

export interface ChannelContractOptions {
  /** The transport's name; it begins each case's name. */
  readonly name: string;
  /** Opens a new connection for each case. */
  readonly makePair: () => ContractPair | Promise<ContractPair>;
  readonly profile: ChannelProfile;
  /** How long a case waits for one thing to happen. @default 5000 */
  readonly timeoutMs?: number | undefined;
}

/** What a case works with: a connection that is not started. */
export interface Connected {
  readonly client: ContractEnd;
  readonly server: ContractEnd;
  readonly pair: ContractPair;
  readonly profile: ChannelProfile;
}

/**
 * The cases that every {@link Channel} passes, whatever its transport. A case that the profile excludes is not
 * listed; one whose means the pair lacks fails.
 */
export const channelContract = (options: ChannelContractOptions): ContractCase[] => {
  const { name, makePair, profile, timeoutMs = 5000 } = options;
  const table = { ...deliveryCases, ...framingCases(profile), ...lifecycleCases(profile) };
  return toCases<Connected>(name, table, async (body) => {
    const pair = await makePair();
    const client = new ContractEnd("client", pair.client, timeoutMs);
    const server = new ContractEnd("server", pair.server, timeoutMs);
    try {
      await body({ client, server, pair, profile });
    } finally {
      await pair.dispose();
    }
  });
};
