import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { join } from "node:path";
import { type ContractPair, channelContract } from "@harnesskit/wire/testing";
import { describe, it } from "vitest";
import { temporaryDirectory } from "../../../test-kit/test-kit.ts";
import { createStdioChannel } from "../src/index.ts";
import { startFixture } from "./support.ts";

const limits = { maxFrameBytes: 65_536, maxBufferedBytes: 262_144 };

/** A child transport whose child carries everything to a stdio channel in this process. */
const relay = async () => {
  const directory = await temporaryDirectory();
  const path = join(directory.path, "socket");
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }).listen(path);
  await once(server, "listening");
  const accepted = once(server, "connection") as Promise<[Socket]>;
  const parent = await startFixture("relay", [path], limits);
  const [socket] = await accepted;
  const child = createStdioChannel({ input: socket, output: socket, ...limits });
  return {
    parent,
    child,
    socket,
    async dispose() {
      socket.destroy();
      await Promise.all([parent.close(), child.close()]);
      await parent.context.exit;
      server.close();
      await directory[Symbol.asyncDispose]();
    },
  };
};

const fromParent = async (): Promise<ContractPair> => {
  const { parent, child, dispose } = await relay();
  return {
    client: parent,
    server: child,
    dispose,
    killClient: () => void process.kill(parent.context.pid, "SIGKILL"),
  };
};

const fromChild = async (): Promise<ContractPair> => {
  const { parent, child, socket, dispose } = await relay();
  return {
    client: child,
    server: parent,
    dispose,
    writeRawToServer: (bytes) => void socket.write(bytes),
    endClient: () => void socket.end(),
    killClient: () => void socket.destroy(),
  };
};

const suites = [
  { name: "parent to child", makePair: fromParent, halfClose: false, rawBytes: false },
  { name: "child to parent", makePair: fromChild, halfClose: true, rawBytes: true },
];

describe.each(suites)("$name", ({ name, makePair, halfClose, rawBytes }) => {
  const profile = { framing: "newline", halfClose, rawBytes, ...limits } as const;
  for (const { name: title, run } of channelContract({ name, makePair, profile })) it(title, run);
});
