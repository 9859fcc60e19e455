import { describe, it } from "vitest";
import { lengthPrefixCodec, newlineCodec } from "../../src/index.ts";
import {
  type ContractPair,
  channelContract,
  createMemoryPair,
  type MemoryPairOptions,
} from "../../src/testing/index.ts";

const limits = { maxFrameBytes: 65_536, maxBufferedBytes: 262_144 };

const makePair = (options: MemoryPairOptions): ContractPair => {
  const { client, server, clientWire } = createMemoryPair({
    ...options,
    maxBufferedBytes: limits.maxBufferedBytes,
  });
  return {
    client,
    server,
    dispose: async () => clientWire.kill(),
    writeRawToServer: (bytes) => clientWire.writeRaw(bytes),
    endClient: () => clientWire.end(),
    killClient: () => clientWire.kill(),
  };
};

const variants = {
  "newline in small chunks": {
    framing: "newline",
    halfClose: true,
    options: { codec: newlineCodec(limits), chunkBytes: 7, capacityBytes: 100 },
  },
  "length prefix in small chunks": {
    framing: "length-prefix",
    halfClose: true,
    options: { codec: lengthPrefixCodec(limits), chunkBytes: 3, capacityBytes: 1 },
  },
  "no half-close": {
    framing: "newline",
    halfClose: false,
    options: { codec: newlineCodec(limits), halfClose: false },
  },
} as const;

for (const [name, { framing, halfClose, options }] of Object.entries(variants)) {
  describe(`the memory pair keeps the channel contract (${name})`, () => {
    const profile = { framing, halfClose, rawBytes: true, ...limits };
    const cases = channelContract({ name: "memory", makePair: () => makePair(options), profile });
    for (const entry of cases) it(entry.name, entry.run);
  });
}
