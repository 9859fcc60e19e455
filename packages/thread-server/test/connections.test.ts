import { createPeer } from "@harnesskit/wire/rpc";
import { createMemoryPair } from "@harnesskit/wire/testing";
import { expect, it } from "vitest";
import type { ConnectedClient, Connections } from "../src/connections.ts";
import { resolveSettings } from "../src/server-settings.ts";
import { ThreadSessions } from "../src/thread-sessions.ts";
import { callingRunner } from "./support/tools.ts";

const threadId = "ses_1";
const ends: [string, (connections: Connections, client: ConnectedClient) => unknown][] = [
  ["unsubscribes", (connections, client) => connections.unsubscribe(client, threadId)],
  ["disconnects", (_, { peer }) => peer.close()],
  ["hears that it is deleted", (connections) => connections.notifyDeleted(threadId)],
];

it.each(ends)(
  "a thread has no subscriber more once the only one %s, however often it subscribed",
  async (_, end) => {
    const { connections } = new ThreadSessions(
      resolveSettings({ runner: callingRunner({ tool: "bash", input: {} }) }),
    );
    const { client: other, server } = createMemoryPair();
    other.start({ message: () => {}, error: () => {}, close: () => {} });
    const client = connections.add(createPeer(server, {}), server);
    for (const afterSeq of [undefined, 0]) connections.subscribe(client, threadId, 0, afterSeq);
    expect(connections.hasSubscriber(threadId)).toBe(true);
    const changes: boolean[] = [];
    connections.onChange(() => changes.push(connections.hasSubscriber(threadId)));
    await end(connections, client);
    expect([connections.hasSubscriber(threadId), client.subscribed.size]).toEqual([false, 0]);
    expect(changes).not.toContain(true);
  },
);
