import * as fs from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "@harnesskit/wire";
import { createManualClock } from "@harnesskit/wire/testing";
import { describe, expect, it, vi } from "vitest";
import type { ThreadServerOptions } from "../src/index.ts";
import { createFileThreadStore } from "../src/node/index.ts";
import { RawClient } from "./support/raw-client.ts";
import { openServer, ownDirectory } from "./support/serve.ts";
import { callingRunner, recordingTool, sayingRunner } from "./support/tools.ts";

const idleTimeoutMs = 61_234;

/** A server on a directory, and how many of its threads wait for their time to be over. */
const serve = (root: string, options: Partial<ThreadServerOptions> = {}) => {
  const clock = createManualClock();
  const idle = new Set<object>();
  const watched: Clock = {
    ...clock,
    after(delayMs, callback) {
      const timer = {};
      if (delayMs === idleTimeoutMs) idle.add(timer);
      const stop = clock.after(delayMs, () => {
        idle.delete(timer);
        callback();
      });
      return () => {
        idle.delete(timer);
        stop();
      };
    },
  };
  const store = createFileThreadStore({ root });
  const shared = { runner: sayingRunner("x"), store, clock: watched, limits: { idleTimeoutMs } };
  const server = openServer({ ...shared, ...options });
  return { server, clock, idle, client: RawClient.connect(server) };
};

/** Settles when nobody holds the thread. */
const released = (root: string, threadId: string) =>
  vi.waitFor(async () => {
    expect(await fs.readdir(join(root, "threads", threadId))).not.toContain("lock.json");
  });

const isHeld = async (root: string, threadId: string) =>
  (await fs.readdir(join(root, "threads", threadId))).includes("lock.json");

describe("a thread that nobody uses", () => {
  it("is given back after idleTimeoutMs, and goes on wherever it is used next", async () => {
    const dir = await ownDirectory();
    const first = serve(dir);
    const second = serve(dir);
    const threadId = await first.client.createThread();
    first.clock.advance(idleTimeoutMs - 1);
    expect((await second.client.startTurn(threadId)).error?.data).toEqual({ reason: "thread_locked" });
    await first.client.runTurn(threadId);
    // The time begins anew with each use.
    await vi.waitFor(() => expect(first.idle.size).toBe(1));
    first.clock.advance(idleTimeoutMs - 1);
    expect(await isHeld(dir, threadId)).toBe(true);
    first.clock.advance(1);
    await released(dir, threadId);
    await second.client.runTurn(threadId);
    expect((await first.client.startTurn(threadId)).error?.data).toEqual({ reason: "thread_locked" });
    await vi.waitFor(() => expect(second.idle.size).toBe(1));
    second.clock.advance(idleTimeoutMs);
    await released(dir, threadId);
    await first.client.runTurn(threadId);
    const events = await first.client.events(threadId);
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
    expect(events.filter(({ type }) => type === "turn.completed")).toHaveLength(3);
    await first.server.close();
    await second.server.close();
    expect([first.idle.size, second.idle.size]).toEqual([0, 0]);
  });

  it("is kept while somebody subscribes to it, and given back when the last one has left", async () => {
    const dir = await ownDirectory();
    const { server, clock, client } = serve(dir);
    const threadId = await client.createThread();
    const watching = RawClient.connect(server);
    await watching.call("thread.subscribe", { threadId });
    await client.call("thread.subscribe", { threadId });
    clock.advance(600_000);
    await client.call("thread.unsubscribe", { threadId });
    clock.advance(600_000);
    expect(await isHeld(dir, threadId)).toBe(true);
    watching.wire.kill();
    await watching.closed;
    clock.advance(idleTimeoutMs);
    await released(dir, threadId);
  });

  it("is kept while a turn waits for a human, however long, and given back after its end", async () => {
    const dir = await ownDirectory();
    const runner = callingRunner({ tool: "bash", input: {} });
    const { clock, idle, client } = serve(dir, {
      runner,
      tools: [recordingTool("bash", "execute")],
    });
    const threadId = await client.createThread();
    const { result } = await client.startTurn(threadId);
    const { requestId } = (await client.notification("approval.requested")).params;
    clock.advance(3_600_000);
    expect((await client.answer(requestId)).result).toEqual({
      ok: true,
    });
    await client.turnEnd(result.turnId);
    await vi.waitFor(() => expect(idle.size).toBe(1));
    clock.advance(idleTimeoutMs);
    await released(dir, threadId);
  });

  it("is given back at once where more are open than may be; one that is in use is not", async () => {
    const dir = await ownDirectory();
    const { client } = serve(dir, {
      runner: callingRunner({ tool: "bash", input: {} }),
      tools: [recordingTool("bash", "execute")],
      limits: { maxOpenThreads: 1 },
    });
    const busy = await client.createThread();
    await client.startTurn(busy);
    await client.notification("approval.requested");
    const unused = await client.createThread();
    await client.createThread();
    await released(dir, unused);
    expect(await isHeld(dir, busy)).toBe(true);
  });
});
