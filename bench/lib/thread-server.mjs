import { createThreadServer } from "@harnesskit/thread-server";
import { createFileThreadStore } from "@harnesskit/thread-server/node";
import { createPeer } from "@harnesskit/wire/rpc";
import { createMemoryPair } from "@harnesskit/wire/testing";

/** A server on a directory, and a client of it that counts what it hears. */
export const serve = (root, runner, options = {}) => {
  const store = createFileThreadStore({ root });
  const server = createThreadServer({ store, runner, ...options });
  const pair = createMemoryPair();
  server.connect(pair.server);
  const waiting = new Map();
  const heard = { count: 0 };
  const peer = createPeer(pair.client, {
    notification(name, params) {
      heard.count++;
      if (name === "turn.completed" || name === "turn.error") waiting.get(params.turnId)?.(params);
    },
  });
  const turn = async (threadId, text = "go") => {
    const { turnId } = await peer.request("turn.start", { threadId, input: [{ type: "text", text }] });
    return new Promise((resolve) => waiting.set(turnId, resolve));
  };
  const create = async () => (await peer.request("thread.create", {})).thread.threadId;
  return { server, store, peer, heard, turn, create };
};
