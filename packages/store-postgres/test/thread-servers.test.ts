import type { Event } from "@harnesskit/protocol/threads";
import {
  createThreadServer,
  type ThreadServerOptions,
  type Tool,
  type TurnRunner,
} from "@harnesskit/thread-server";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { sourceBundle } from "../../../test-kit/source-bundle.ts";
import { startToldProcess } from "../../../test-kit/told-process.ts";
import { HeardClient } from "./support/heard-client.ts";
import { newSchema } from "./support/schema.ts";

const bundle = await sourceBundle(new URL("./bundle-entry.ts", import.meta.url));

const storeLimits = { threadLeaseMs: 3000, wakePollMs: 200, wakeIntervalMs: 10 };

/** Says fifty words. */
const sayingRunner: TurnRunner = {
  async run(turn) {
    const message = turn.message();
    for (let index = 0; index < 50; index++) message.append(`${index} `);
    await message.complete();
  },
};

/** Asks for one call unless the log has its outcome, and says what became of it. */
const askingRunner: TurnRunner = {
  async run(turn) {
    const done = turn.history.find((item) => item.turnId === turn.turn.turnId && item.type === "tool_exec");
    const known = done?.type === "tool_exec" ? done.data?.status : undefined;
    const call = { tool: "deploy", input: { command: "deploy" }, callId: "c1", step: 0 };
    const outcome = known ?? (await turn.callTool(call)).status;
    const message = turn.message();
    message.append(outcome);
    await message.complete();
  },
};

const setUp = async () => {
  const schema = await newSchema();
  onTestFinished(() => schema[Symbol.asyncDispose]());
  return {
    schema,
    async server(options: Partial<ThreadServerOptions> = {}) {
      const { threads: store } = await schema.open({ limits: storeLimits });
      const runs: unknown[] = [];
      const tool: Tool = {
        name: "deploy",
        effects: "execute",
        description: "Deploys.",
        input: { type: "object", properties: { command: { type: "string" } } },
        run: async (input) => {
          runs.push(input);
          return { ok: true };
        },
      };
      const limits = { takeOverAfterMs: 300 };
      const server = createThreadServer({ runner: askingRunner, tools: [tool], store, limits, ...options });
      onTestFinished(() => server.close());
      return { server, runs, connect: () => new HeardClient(server) };
    },
  };
};

/** Settles when a client has heard the whole log, each event once and in order. */
const hearsAll = (client: HeardClient, threadId: string, from = 1) =>
  vi.waitFor(
    async () => {
      const events = (await client.events(threadId)) as Event[];
      const heard = client.seqs;
      expect(heard).toEqual([...new Set(heard)].sort((a, b) => a - b));
      expect(heard.at(-1)).toBe(events.at(-1)?.seq);
      // Deltas of one item may come as one, with the number of the last.
      const whole = events.filter(({ type }) => type !== "item.delta").map(({ seq }) => seq);
      expect(whole.filter((seq) => seq >= from && !heard.includes(seq))).toEqual([]);
    },
    { timeout: 15_000 },
  );

describe("threads on several servers over PostgreSQL", () => {
  it("a client that reconnects elsewhere goes on by its number, without a gap, while the first server writes", async () => {
    const { server } = await setUp();
    const one = await server({
      runner: sayingRunner,
    });
    const other = await server();
    const writer = one.connect();
    const threadId = await writer.createThread();
    const { result } = await writer.startTurn(threadId);
    const reader = other.connect();
    await reader.call("thread.subscribe", { threadId, afterSeq: 0 });
    await writer.turnEnd(result?.turnId);
    await hearsAll(reader, threadId);
    // Further turns too, and a client that joins in the middle.
    const again = await writer.startTurn(threadId);
    const late = other.connect();
    const { result: joined } = await late.call("thread.subscribe", { threadId, afterSeq: 3 });
    await late.turnEnd(again.result?.turnId);
    await hearsAll(reader, threadId);
    await hearsAll(late, threadId, 4);
    expect(late.seqs[0]).toBeGreaterThan(3);
    expect(joined?.lastSeq).toBeGreaterThan(3);
  });

  it("an approval that one server asks is answered on another, runs once, and both hear all of it", async () => {
    const { server } = await setUp();
    const [one, other] = [await server(), await server()];
    const asker = one.connect();
    const threadId = await asker.createThread();
    await asker.call("thread.subscribe", { threadId });
    const { result: started } = await asker.startTurn(threadId);
    await asker.notification("approval.requested");
    const answerer = other.connect();
    await answerer.call("thread.subscribe", { threadId, afterSeq: 0 });
    const { params } = await answerer.notification("approval.requested");
    const requestId = params?.requestId;
    const answer = await answerer.call("approval.respond", { requestId, decision: "once" });
    expect(answer.result).toEqual({ ok: true });
    for (const client of [asker, answerer]) {
      const end = await client.turnEnd(started?.turnId);
      expect(end.params).toMatchObject({ status: "completed" });
      await hearsAll(client, threadId);
    }
    expect([one.runs.length, other.runs.length]).toEqual([0, 1]);
    // A second answer, where it was asked, comes too late.
    const late = await asker.call("approval.respond", { requestId, decision: "reject" });
    expect(late.error).toMatchObject({ code: -32004, data: { reason: "already_resolved" } });
    // And the thread comes back for the next turn.
    expect((await asker.startTurn(threadId)).result?.turnId).toBeTypeOf("string");
    await vi.waitFor(() =>
      expect(answerer.all("approval.requested").filter(({ requestId: id }) => id !== requestId)).not.toEqual(
        [],
      ),
    );
  });

  it("a thread in which a turn runs is not taken from its server", async () => {
    const { server } = await setUp();
    let end = () => {};
    const running = new Promise<void>((resolve) => {
      end = resolve;
    });
    const one = await server({ runner: { run: () => running } });
    const other = await server({ limits: { handOverMs: 300, takeOverAfterMs: 300 } });
    const asker = one.connect();
    const threadId = await asker.createThread();
    const { result } = await asker.startTurn(threadId);
    const refused = await other.connect().startTurn(threadId);
    expect(refused.error).toMatchObject({ code: -32002, data: { reason: "thread_locked" } });
    expect(refused.error?.data).toHaveProperty("retryAfterMs", expect.any(Number));
    end();
    expect((await asker.turnEnd(result?.turnId)).params).toMatchObject({ status: "completed" });
    const { result: next } = await other.connect().startTurn(threadId);
    expect(next?.turnId).toBeTypeOf("string");
  });

  it("a thread moves when its server is killed: its turn ends with one error, and a client elsewhere hears all", async () => {
    const { schema, server } = await setUp();
    const script = new URL("./fixtures/thread-server.mjs", import.meta.url);
    const args = [bundle, schema.url, schema.schema, JSON.stringify(storeLimits)];
    await using dying = await startToldProcess(script, ...args);
    const { result } = await dying.call("call", "thread.create", {});
    const { threadId } = (result as { thread: { threadId: string } }).thread;
    await dying.call("call", "turn.start", { threadId, input: [{ type: "text", text: "go" }] });
    const other = await server();
    const client = other.connect();
    await client.call("thread.subscribe", { threadId, afterSeq: 0 });
    await vi.waitFor(() => expect(client.all("item.delta").length).toBeGreaterThan(3));
    await dying.kill();
    const ended = await client.until(({ method }) => method === "turn.error");
    expect(ended.params).toMatchObject({ threadId });
    await hearsAll(client, threadId);
    expect(client.all("turn.error")).toHaveLength(1);
    const { result: next } = await client.startTurn(threadId);
    await client.notification("approval.requested", ({ turnId }) => turnId === next?.turnId);
    await hearsAll(client, threadId);
  });

  it.each([
    ["asks", "ask", "turn.completed"],
    ["runs", "tick", "turn.error"],
  ])(
    "a server that sleeps past its lease while a turn %s follows the thread: one end is heard, that of the log",
    async (_state, text, end) => {
      const { schema, server } = await setUp();
      const script = new URL("./fixtures/thread-server.mjs", import.meta.url);
      const args = [bundle, schema.url, schema.schema, JSON.stringify(storeLimits)];
      await using sleeping = await startToldProcess(script, ...args);
      const { result } = await sleeping.call("call", "thread.create", {});
      const { threadId } = (result as { thread: { threadId: string } }).thread;
      await sleeping.call("call", "thread.subscribe", { threadId });
      await sleeping.call("call", "turn.start", { threadId, input: [{ type: "text", text }] });
      const begun = text === "ask" ? "approval.requested" : "item.delta";
      const asked = await sleeping.call("heard", [begun], 1);
      sleeping.signal("SIGSTOP");
      // Nothing asks the sleeper for the thread: only its own lease can tell it.
      const held = "SELECT 1 FROM store.threads WHERE lease_until > clock_timestamp()";
      await vi.waitFor(async () => expect(await schema.run(held)).toEqual([]), { timeout: 15_000 });
      const other = (await server()).connect();
      await other.call("thread.subscribe", { threadId, afterSeq: 0 });
      if (text === "ask") {
        const [{ params }] = asked.result as [{ params: { requestId: string } }];
        const answer = { requestId: params.requestId, decision: "once" };
        expect((await other.call("approval.respond", answer)).result).toEqual({ ok: true });
      }
      const { params: written } = await other.until(({ method }) => method === end);
      sleeping.signal("SIGCONT");
      const ends = ["turn.completed", "turn.error"];
      const heard = await sleeping.call("heard", ends, 1);
      expect(heard.result).toEqual([{ method: end, params: written }]);
      // Nothing more comes of the turn that was left here: it has stopped by now.
      await sleeping.call("call", "thread.get", { threadId });
      expect((await sleeping.call("heard", ends, 1)).result).toEqual(heard.result);
    },
  );

  it.each(["is killed", "sleeps past its lease"])(
    "with interruptedTurns retry a turn whose server %s goes on at another one, which no client told, and ends once",
    async (how) => {
      const { schema, server } = await setUp();
      const script = new URL("./fixtures/thread-server.mjs", import.meta.url);
      const args = [bundle, schema.url, schema.schema, JSON.stringify(storeLimits), "retry"];
      await using first = await startToldProcess(script, ...args);
      const { result } = await first.call("call", "thread.create", {});
      const { threadId } = (result as { thread: { threadId: string } }).thread;
      await first.call("call", "thread.subscribe", { threadId });
      await first.call("call", "turn.start", { threadId, input: [{ type: "text", text: "tick" }] });
      await first.call("heard", ["item.delta"], 1);
      if (how === "is killed") await first.kill();
      else first.signal("SIGSTOP");
      const gate = { before: () => ({ verdict: "allow" }) as const };
      const other = await server({ interruptedTurns: "retry", gate });
      await other.server.resume();
      await vi.waitFor(() => expect(other.runs).toHaveLength(1), { timeout: 20_000 });
      const client = other.connect();
      await client.call("thread.subscribe", { threadId, afterSeq: 0 });
      await client.notification("turn.completed");
      if (how !== "is killed") {
        first.signal("SIGCONT");
        const { result: heard } = await first.call("heard", ["turn.completed", "turn.error"], 1);
        expect(heard).toMatchObject([{ method: "turn.completed" }]);
      }
      await hearsAll(client, threadId);
      const events = (await client.events(threadId)) as Event[];
      const count = (type: string) => events.filter((event) => event.type === type).length;
      expect(["turn.started", "turn.resumed", "turn.completed", "turn.error"].map(count)).toEqual([
        1, 1, 1, 0,
      ]);
    },
  );
});
