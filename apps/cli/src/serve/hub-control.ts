import type { ControlHandlers } from "@harnesskit/ahp-client/thread-gates";
import { createThreadClient, type ThreadClient } from "@harnesskit/thread-client";
import type { ThreadServer } from "@harnesskit/thread-server";
import { createMemoryPair } from "@harnesskit/wire/testing";

/** What a human at the hub tells the threads of a server, done by a client of it that is opened with the first command. */
export const hubControl = (server: ThreadServer): ControlHandlers => {
  let opened: Promise<ThreadClient> | undefined;
  const open = async () => {
    const client = createThreadClient({
      transport: {
        async connect() {
          const pair = createMemoryPair();
          server.connect(pair.server);
          return pair.client;
        },
      },
      reconnect: false,
      clientInfo: { name: "harness hub" },
    });
    await client.connect();
    return client;
  };
  const client = () => {
    opened ??= open();
    return opened;
  };
  return {
    stop: async (threadId) => (await client()).cancelTurn(threadId),
    async message(threadId, text) {
      await (await client()).submitTurn({ threadId, input: [{ type: "text", text }], whenBusy: "queue" });
    },
  };
};
