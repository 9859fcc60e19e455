import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ContractPair, channelContract } from "@harnesskit/wire/testing";
import { describe, it } from "vitest";
import { createStdioChannel } from "../src/index.ts";
import { startFixture } from "./support.ts";

const limits = { maxFrameBytes: 65_536, maxBufferedBytes: 262_144 };

/** A socket to listen on, and the first connection to it. */
const listenOnce = async () => {
  const directory = await mkdtemp(join(tmpdir(), "harnesskit-relay-"));
  const path = join(directory, "socket");
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true });
  server.listen(path);
  await once(server, "listening");
  const accepted = once(server, "connection") as Promise<[Socket]>;
  return {
    path,
    accepted: accepted.then(([socket]) => socket),
    async dispose() {
      server.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
};

/** A child transport whose child carries everything to a stdio channel in this process. */
const relay = async () => {
  const { path, accepted, dispose } = await listenOnce();
  const parent = await startFixture("relay", [path], limits);
  const socket = await accepted;
  const child = createStdioChannel({ input: socket, output: socket, ...limits });
  return {
    parent,
    child,
    socket,
    async dispose() {
      socket.destroy();
      await Promise.all([parent.close(), child.close()]);
      await parent.context.exit;
      await dispose();
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

const overStreams = async (): Promise<ContractPair> => {
  const { path, accepted, dispose } = await listenOnce();
  const near = connect({ path, allowHalfOpen: true });
  const far = await accepted;
  const client = createStdioChannel({ input: near, output: near, ...limits });
  const server = createStdioChannel({ input: far, output: far, ...limits });
  return {
    client,
    server,
    async dispose() {
      near.destroy();
      far.destroy();
      await Promise.all([client.close(), server.close()]);
      await dispose();
    },
    writeRawToServer: (bytes) => void near.write(bytes),
    endClient: () => void near.end(),
    killClient: () => void near.destroy(),
  };
};

const suites = [
  { name: "parent to child", makePair: fromParent, halfClose: false, rawBytes: false },
  { name: "child to parent", makePair: fromChild, halfClose: true, rawBytes: true },
  { name: "given streams", makePair: overStreams, halfClose: true, rawBytes: true },
];

describe.each(suites)("$name", ({ name, makePair, halfClose, rawBytes }) => {
  const profile = { framing: "newline", halfClose, rawBytes, ...limits } as const;
  for (const { name: title, run } of channelContract({ name, makePair, profile })) it(title, run);
});
