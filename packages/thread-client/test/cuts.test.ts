import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createUnixListener, createUnixTransport } from "@harnesskit/transport-uds";
import { describe, expect, it } from "vitest";
import { connectInMemory, createCountingServer, runWithCuts } from "./cut-scenario.ts";

const run = (cuts: Iterable<number>) => {
  const counting = createCountingServer();
  return runWithCuts(new Set(cuts), counting, connectInMemory(counting.server));
};

describe("a client that loses its connection", () => {
  it("sees what one that stays sees, wherever the cut is", async () => {
    const { messages, connections } = await run([]);
    expect(connections).toBe(1);
    // The first message is the answer to `initialize`: before it there is nothing to go on with.
    let reconnected = 0;
    for (let cut = 2; cut <= messages; cut++) {
      const result = await run([cut]).catch((cause: unknown) => {
        throw new Error(`cut at message ${cut} of ${messages}`, { cause });
      });
      if (result.connections === 2) reconnected++;
    }
    // How many messages there are depends on which deltas left together: a cut near the end may not be reached.
    expect(reconnected).toBeGreaterThan(15);
  });

  it("does so over a socket", async () => {
    const directory = await mkdtemp(join(tmpdir(), "thread-client-"));
    const path = join(directory, "server.sock");
    const counting = createCountingServer();
    const listener = createUnixListener({ path });
    try {
      await listener.listen((channel) => counting.server.connect(channel));
      const transport = createUnixTransport({ path });
      const connect = async () => {
        const channel = await transport.connect();
        return { channel, kill: () => void channel.close() };
      };
      const { connections } = await runWithCuts(new Set([4, 9, 14, 20, 27]), counting, connect);
      expect(connections).toBe(6);
    } finally {
      await listener.close();
      await rm(directory, { recursive: true });
    }
  });
});
