import { join } from "node:path";
import { type Channel, createDeferred } from "@harnesskit/wire";
import { type ContractPair, channelContract } from "@harnesskit/wire/testing";
import { describe, it } from "vitest";
import { temporaryDirectory } from "../../../test-kit/test-kit.ts";
import { createUnixListener, createUnixTransport } from "../src/index.ts";
import { connectWithSocket } from "./support.ts";

const limits = { maxFrameBytes: 65_536, maxBufferedBytes: 262_144 };

describe.each(["length-prefix", "newline"] as const)("a Unix socket, %s", (framing) => {
  const makePair = async (): Promise<ContractPair> => {
    const directory = await temporaryDirectory();
    const options = { path: join(directory.path, "s"), framing, ...limits };
    const listener = createUnixListener(options);
    const accepted = createDeferred<Channel<unknown>>();
    await listener.listen(accepted.resolve);
    const { channel: client, socket } = await connectWithSocket(createUnixTransport(options));
    return {
      client,
      server: await accepted.promise,
      writeRawToServer: (bytes) => void socket.write(bytes),
      endClient: () => void socket.end(),
      killClient: () => void socket.destroy(),
      async dispose() {
        socket.destroy();
        await Promise.all([client.close(), listener.close()]);
        await directory[Symbol.asyncDispose]();
      },
    };
  };
  const profile = { framing, halfClose: true, rawBytes: true, ...limits };
  for (const { name, run } of channelContract({ name: "unix", makePair, profile })) it(name, run);
});
