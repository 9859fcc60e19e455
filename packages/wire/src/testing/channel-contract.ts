import type { Channel } from "../channel.ts";
import { deliveryCases } from "./channel-cases-delivery.ts";
import { framingCases } from "./channel-cases-framing.ts";
import { lifecycleCases } from "./channel-cases-lifecycle.ts";
import { pressureCases } from "./channel-cases-pressure.ts";

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
  /** How messages are told apart on the wire. `message`: the transport itself keeps them apart (WebSocket). */
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
  readonly timeoutMs?: number;
}

/** A named case for any test runner. */
export interface ContractCase {
  readonly name: string;
  /** Resolves when the contract is kept; rejects with `contract_broken` when it is not. */
  run(): Promise<void>;
}

/** What a case works with. */
export interface CaseContext {
  readonly pair: ContractPair;
  readonly profile: ChannelProfile;
  readonly timeoutMs: number;
}

/** A case before it is bound to a transport. */
export interface ChannelCase {
  readonly name: string;
  readonly appliesTo?: (profile: ChannelProfile) => boolean;
  run(context: CaseContext): Promise<void>;
}

/**
 * The cases that every {@link Channel} passes, whatever its transport. A case that the profile excludes is not
 * listed; one whose means the pair lacks fails.
 */
export const channelContract = (options: ChannelContractOptions): ContractCase[] => {
  const { name, makePair, profile, timeoutMs = 5000 } = options;
  return [...deliveryCases, ...framingCases, ...lifecycleCases, ...pressureCases]
    .filter(({ appliesTo }) => appliesTo?.(profile) ?? true)
    .map((entry) => ({
      name: `${name}: ${entry.name}`,
      async run() {
        const pair = await makePair();
        try {
          await entry.run({ pair, profile, timeoutMs });
        } finally {
          await pair.dispose();
        }
      },
    }));
};
