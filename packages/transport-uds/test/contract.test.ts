import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Channel, createDeferred, type Transport } from "@harnesskit/wire";
import { type ContractPair, channelContract } from "@harnesskit/wire/testing";
import { describe, it } from "vitest";
import {
  createTcpListener,
  createTcpTransport,
  createUnixListener,
  createUnixTransport,
  type SocketListener,
} from "../src/index.ts";
import type { Framing } from "../src/socket-channel.ts";
import { connectWithSocket } from "./support.ts";

const limits = { maxFrameBytes: 65_536, maxBufferedBytes: 262_144 };

const makePair = async <Context>(
  listener: SocketListener<Context>,
  makeTransport: () => Transport<Context>,
  cleanUp: () => Promise<void> = async () => {},
): Promise<ContractPair> => {
  const accepted = createDeferred<Channel<Context>>();
  await listener.listen(accepted.resolve);
  const { channel: client, socket } = await connectWithSocket(makeTransport());
  return {
    client,
    server: await accepted.promise,
    writeRawToServer: (bytes) => void socket.write(bytes),
    endClient: () => void socket.end(),
    killClient: () => void socket.destroy(),
    async dispose() {
      socket.destroy();
      await Promise.all([client.close(), listener.close()]);
      await cleanUp();
    },
  };
};

const unixPair = async (framing: Framing): Promise<ContractPair> => {
  const directory = await mkdtemp(join(tmpdir(), "hk-contract-"));
  const options = { path: join(directory, "s"), framing, ...limits };
  return makePair(
    createUnixListener(options),
    () => createUnixTransport(options),
    () => rm(directory, { recursive: true, force: true }),
  );
};

const tcpPair = (framing: Framing): Promise<ContractPair> => {
  const options = { framing, ...limits };
  const listener = createTcpListener(options);
  return makePair(listener, () => createTcpTransport({ port: listener.port ?? 0, ...options }));
};

for (const [transport, pair] of Object.entries({ unix: unixPair, tcp: tcpPair })) {
  for (const framing of ["length-prefix", "newline"] as const) {
    describe(`${transport}, ${framing}`, () => {
      const profile = { framing, halfClose: true, rawBytes: true, ...limits };
      const cases = channelContract({ name: transport, makePair: () => pair(framing), profile });
      for (const { name, run } of cases) it(name, run);
    });
  }
}
