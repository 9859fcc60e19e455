import { createThreadClient, type EventBody, type ThreadClientOptions } from "@harnesskit/thread-client";
import { createUnixTransport } from "@harnesskit/transport-uds";
import { createDeferred } from "@harnesskit/wire";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { Questions } from "../src/attach/questions.ts";
import { ThreadFollower } from "../src/attach/thread-follower.ts";
import { Session } from "../src/session/session.ts";
import { FakeTerminal } from "./support/fake-terminal.ts";
import { SocketClient, serveSocket } from "./support/socket-server.ts";

/** A terminal that takes nothing until it is opened. */
class StuckTerminal extends FakeTerminal {
  readonly opened = createDeferred<void>();
  isStuck = false;

  override async ready(): Promise<void> {
    if (this.isStuck) await this.opened.promise;
  }
}

const following = async (options: Partial<ThreadClientOptions> = {}) => {
  const server = await serveSocket();
  const other = await SocketClient.connect(server);
  const threadId = await other.createThread();
  const transport = createUnixTransport({ path: server.endpoint.slice("unix:".length) });
  const client = createThreadClient({ transport, ...options });
  await client.connect();
  onTestFinished(() => client.close());
  const terminal = new StuckTerminal();
  const shown: EventBody[] = [];
  const questions = new Questions({
    session: await Session.open({
      ...{ command: "harness attach", version: "1", json: true, withoutTerminal: "watch" },
    }),
    onWatched: () => {},
    onCancel: () => {},
    again: () => "",
    onError: () => {},
  });
  const leave = new AbortController();
  const follower = new ThreadFollower({
    ready: () => terminal.ready(),
    questions,
    output: { event: (event) => shown.push(event), summary: () => {} },
  });
  const ended = follower.follow(client, threadId, { stay: true, signal: leave.signal });
  await vi.waitFor(() => expect(shown).toMatchObject([{ type: "thread.created" }]));
  return { server, other, threadId, terminal, shown, leave, ended };
};

describe("ThreadFollower", () => {
  it("shows every event once where the terminal is so slow that the client dropped some", async () => {
    const { other, threadId, terminal, shown, leave, ended } = await following({
      limits: { maxBufferedEvents: 3 },
    });
    terminal.isStuck = true;
    await other.startTurn(threadId, "read README.md then list files");
    await other.notified("turn.completed");
    expect(shown.length).toBeLessThan(5);
    terminal.opened.resolve();
    await vi.waitFor(() => expect(shown.at(-1)?.type).toBe("turn.completed"), { timeout: 10_000 });
    const { events } = (await other.peer.request("thread.get", { threadId })) as {
      events: { seq: number; time: number; type: string; data: object }[];
    };
    expect(events.length).toBeGreaterThan(10);
    expect(shown).toEqual(
      events.map(({ seq, time, type, data }) => ({ type, data: { ...data, seq, time } })),
    );
    leave.abort();
    expect(await ended).toMatchObject({ result: { status: "completed" } });
  });

  it("ends with `thread_not_found` when the thread is deleted", async () => {
    const { other, threadId, ended } = await following();
    const rejected = expect(ended).rejects.toMatchObject({ name: "CliError", code: "thread_not_found" });
    await other.peer.request("thread.delete", { threadId });
    await rejected;
  });
});
