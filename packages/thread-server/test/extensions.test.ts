import { createManualClock } from "@harnesskit/wire/testing";
import { describe, expect, it } from "vitest";
import { createThreadServer, type ThreadServerOptions } from "../src/index.ts";
import { createMemoryThreadStore } from "../src/memory-thread-store.ts";
import { RawClient } from "./support/raw-client.ts";
import { callingRunner, recordingTool, sayingRunner } from "./support/tools.ts";

const setUp = async (options: Partial<ThreadServerOptions> = {}) => {
  const tool = recordingTool("bash", "execute");
  const runner = callingRunner({ tool: "bash", input: { command: "ls" } });
  const server = createThreadServer({ runner, tools: [tool], ...options });
  const client = RawClient.connect(server);
  return { server, client, tool, threadId: await client.createThread() };
};

describe("thread.subscribe", () => {
  it("joins without a gap: the past from the log, then what comes, each once", async () => {
    const { server, client, threadId } = await setUp({ runner: sayingRunner("a", "b") });
    const first = await client.startTurn(threadId);
    await client.turnEnd(first.result.turnId);
    for (const afterSeq of [0, 1, 4]) {
      const joining = RawClient.connect(server);
      const second = client.startTurn(threadId);
      const { result } = await joining.call("thread.subscribe", { threadId, afterSeq });
      expect(result).toMatchObject({ thread: { threadId }, lastSeq: expect.any(Number) });
      const { turnId } = (await second).result;
      await joining.turnEnd(turnId);
      await client.turnEnd(turnId);
      const numbers = joining.received.flatMap(({ params }) => (params ? [params.seq] : []));
      const events = await client.events(threadId);
      const last = events.findLast(({ type }) => type === "turn.completed")?.seq ?? 0;
      // Deltas of a completed item are left out of the past; everything else is there, in order.
      const expected = events.filter(
        ({ seq, type }) => seq > afterSeq && seq <= last && type !== "item.delta",
      );
      expect(numbers.filter((seq) => expected.some((event) => event.seq === seq))).toEqual(
        expected.map(({ seq }) => seq),
      );
      expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));
    }
  });

  it("ends the hearing of all other threads", async () => {
    const { server, client, threadId } = await setUp({ runner: sayingRunner("x") });
    const other = RawClient.connect(server);
    await other.call("thread.subscribe", { threadId });
    const elsewhere = await client.createThread();
    const { result } = await client.startTurn(elsewhere);
    await client.turnEnd(result.turnId);
    const here = await client.startTurn(threadId);
    await other.turnEnd(here.result.turnId);
    expect(other.told.every(({ data }) => data.threadId === threadId)).toBe(true);
    await other.call("thread.unsubscribe", { threadId });
    const count = other.received.length;
    const more = await client.startTurn(threadId);
    await client.turnEnd(more.result.turnId);
    await other.call("thread.list");
    expect(other.received.slice(count).filter(({ method }) => method)).toEqual([]);
  });

  it("tells again what waits for an answer", async () => {
    const { server, client, threadId, tool } = await setUp();
    const { result } = await client.startTurn(threadId);
    const { params } = await client.notification("approval.requested");
    const late = RawClient.connect(server);
    await late.call("initialize", { clientInfo: { name: "late" } });
    await late.call("thread.subscribe", { threadId });
    const again = await late.notification("approval.requested");
    expect(again.params).toMatchObject({ requestId: params.requestId, metadata: params.metadata });
    expect(late.all("approval.requested")).toHaveLength(1);
    await late.call("approval.respond", { requestId: params.requestId, decision: "once" });
    const { params: told } = await client.notification("approval.resolved");
    expect(told).toMatchObject({ requestId: params.requestId, decision: "once", resolvedBy: "late" });
    await client.turnEnd(result.turnId);
    expect(tool.runs).toHaveLength(1);
  });

  it("is -32001 for an unknown thread", async () => {
    const { client } = await setUp();
    expect((await client.call("thread.subscribe", { threadId: "nope" })).error?.code).toBe(-32001);
  });
});

describe("clientRequestId", () => {
  it("thread.create: the same id and payload give the same thread, another payload a conflict", async () => {
    const store = createMemoryThreadStore();
    const { client } = await setUp({ store });
    const params = { title: "t", clientRequestId: "r1" };
    const answers = await Promise.all([1, 2, 3].map(() => client.call("thread.create", params)));
    const [first] = answers;
    for (const { result } of answers) expect(result).toEqual(first?.result);
    const other = await client.call("thread.create", { title: "u", clientRequestId: "r1" });
    expect(other.error).toMatchObject({ code: -32005, data: { reason: "request_conflict" } });
    expect(client.all("thread.created").filter(({ thread }) => thread.title === "t")).toHaveLength(1);
    const later = await setUp({ store });
    expect((await later.client.call("thread.create", params)).result).toEqual(first?.result);
  });

  it("turn.start: starts once, however often and from wherever it is sent", async () => {
    const store = createMemoryThreadStore();
    const { server, client, threadId } = await setUp({ store, runner: sayingRunner("x") });
    const params = { threadId, input: [{ type: "text", text: "a" }], clientRequestId: "r1" };
    const other = RawClient.connect(server);
    const answers = await Promise.all(
      [client, other, client, other].map((from) => from.call("turn.start", params)),
    );
    const ids = new Set(answers.map(({ result }) => result?.turnId));
    expect(ids.size).toBe(1);
    const [turnId = ""] = ids;
    await client.turnEnd(turnId);
    expect((await client.call("turn.start", params)).result).toEqual({ turnId });
    const conflict = await client.call("turn.start", { ...params, input: [{ type: "text", text: "b" }] });
    expect(conflict.error?.code).toBe(-32005);
    await server.close();
    const later = createThreadServer({ store, runner: sayingRunner("y") });
    expect((await RawClient.connect(later).call("turn.start", params)).result).toEqual({ turnId });
    expect(client.all("turn.started")).toHaveLength(1);
  });

  it("approval.respond: the same answer again is ok, another one a conflict", async () => {
    const { client, threadId, tool } = await setUp();
    const { result } = await client.startTurn(threadId);
    const { requestId } = (await client.notification("approval.requested")).params;
    const params = { requestId, decision: "once", clientRequestId: "r" };
    const answers = await Promise.all([1, 2, 3].map(() => client.call("approval.respond", params)));
    expect(answers.map((answer) => answer.result)).toEqual([{ ok: true }, { ok: true }, { ok: true }]);
    await client.turnEnd(result.turnId);
    expect((await client.call("approval.respond", params)).result).toEqual({ ok: true });
    expect((await client.call("approval.respond", { ...params, decision: "reject" })).error?.code).toBe(
      -32005,
    );
    const without = await client.call("approval.respond", { requestId, decision: "once" });
    expect(without.error).toMatchObject({
      code: -32004,
      data: { reason: "already_resolved", decision: "once" },
    });
    expect(tool.runs).toHaveLength(1);
  });
});

describe("an answer bound to a digest", () => {
  it("is refused for another digest, and the question still stands", async () => {
    const { client, threadId, tool } = await setUp();
    const { result } = await client.startTurn(threadId);
    const { requestId, metadata } = (await client.notification("approval.requested")).params;
    const wrong = await client.call("approval.respond", { requestId, decision: "once", digest: "sha256:00" });
    expect(wrong.error).toMatchObject({
      code: -32004,
      data: { reason: "digest_mismatch", digest: metadata.digest },
    });
    expect(tool.runs).toEqual([]);
    const right = await client.call("approval.respond", {
      requestId,
      decision: "once",
      digest: metadata.digest,
    });
    expect(right.result).toEqual({ ok: true });
    await client.turnEnd(result.turnId);
    expect(tool.runs).toHaveLength(1);
  });
});

describe("grants", () => {
  const answer = async (client: RawClient, threadId: string, more: object) => {
    const { result } = await client.startTurn(threadId);
    const { params } = await client.notification(
      "approval.requested",
      (request) => request.threadId === threadId,
    );
    await client.call("approval.respond", { requestId: params.requestId, ...more });
    await client.turnEnd(result.turnId);
    return params;
  };

  it("of a directory hold in its other threads, are listed, and can be taken back", async () => {
    const resolveDirectory = (directory: string | undefined) => directory ?? "/a";
    const { client, threadId, tool } = await setUp({ resolveDirectory });
    const asked = await answer(client, threadId, { decision: "always", scope: "directory" });
    const { grants } = (await client.call("grant.list")).result;
    expect(grants).toMatchObject([
      {
        scope: "directory",
        threadId,
        directory: "/a",
        tool: "bash",
        input: { command: "ls" },
        digest: asked.metadata.digest,
        requestId: asked.requestId,
        grantedBy: "client-1",
      },
    ]);
    const sibling = await client.createThread();
    const free = await client.startTurn(sibling);
    await client.turnEnd(free.result.turnId);
    expect(tool.runs).toHaveLength(2);
    const elsewhere = (await client.call("thread.create", { directory: "/b" })).result.thread.threadId;
    await answer(client, elsewhere, { decision: "reject" });
    expect(tool.runs).toHaveLength(2);
    expect((await client.call("grant.list", { directory: "/b" })).result.grants).toEqual([]);
    expect((await client.call("grant.revoke", { grantId: grants[0].grantId })).result).toEqual({ ok: true });
    expect((await client.call("grant.revoke", { grantId: grants[0].grantId })).error?.code).toBe(-32004);
    const asks = await client.startTurn(sibling);
    await client.notification("approval.requested", (request) => request.turnId === asks.result.turnId);
  });

  it("of a call's start hold for calls with that start, and are refused for a call that has none", async () => {
    const starts = [{ command: "l" }, { command: "l" }, undefined];
    const { client, threadId, tool } = await setUp({ startOf: () => starts.shift() });
    // Once for the grant that is looked for, once for the one that is given.
    await answer(client, threadId, { decision: "always", match: "start" });
    const { grants } = (await client.call("grant.list")).result;
    expect(grants).toMatchObject([{ scope: "thread", tool: "bash", input: { command: "l" }, match: "start" }]);
    starts.unshift({ command: "l" });
    const free = await client.startTurn(threadId);
    await client.turnEnd(free.result.turnId);
    expect(tool.runs).toHaveLength(2);
    starts.length = 0;
    await client.startTurn(threadId);
    const { params } = await client.notification("approval.requested", ({ requestId }) => requestId !== grants[0].requestId);
    const refused = await client.call("approval.respond", {
      ...{ requestId: params.requestId, decision: "always", match: "start" },
    });
    expect(refused.error).toMatchObject({ code: -32602, data: { field: "match" } });
    expect((await client.call("approval.respond", { requestId: params.requestId, decision: "reject" })).result).toEqual({ ok: true });
  });

  it("of a thread hold there alone, and go with it", async () => {
    const { client, threadId, tool } = await setUp();
    await answer(client, threadId, { decision: "always" });
    const sibling = await client.createThread();
    await answer(client, sibling, { decision: "reject" });
    expect(tool.runs).toHaveLength(1);
    expect((await client.call("grant.list", { threadId })).result.grants).toHaveLength(1);
    await client.call("thread.delete", { threadId });
    expect((await client.call("grant.list")).result.grants).toEqual([]);
  });
});

describe("nobody there", () => {
  it("wait: the question stands until somebody comes", async () => {
    const { server, client, threadId, tool } = await setUp();
    const { result } = await client.startTurn(threadId);
    const { requestId } = (await client.notification("approval.requested")).params;
    client.wire.kill();
    await client.closed;
    const next = RawClient.connect(server);
    expect((await next.call("approval.respond", { requestId, decision: "once" })).result).toEqual({
      ok: true,
    });
    await next.turnEnd(result.turnId);
    expect(tool.runs).toHaveLength(1);
  });

  it("deny: the call is refused as soon as the last one leaves", async () => {
    const { server, client, threadId } = await setUp({ unattended: "deny" });
    const { result } = await client.startTurn(threadId);
    await client.notification("approval.requested");
    client.wire.kill();
    await client.closed;
    const next = RawClient.connect(server);
    await next.call("thread.subscribe", { threadId, afterSeq: 0 });
    await next.turnEnd(result.turnId);
    expect(next.items("tool_exec")).toMatchObject([{ status: "rejected", code: "approval.unattended" }]);
    expect(next.all("approval.resolved")).toMatchObject([{ reason: "unattended", resolvedBy: "server" }]);
  });

  it("the agent is told why a user rejects, and only a rejection has a reason", async () => {
    const { client, threadId } = await setUp();
    const { result } = await client.startTurn(threadId);
    const { requestId } = (await client.notification("approval.requested")).params;
    const respond = (decision: string) =>
      client.call("approval.respond", { requestId, decision, note: "use make" });
    for (const decision of ["once", "always"])
      expect((await respond(decision)).error).toMatchObject({ code: -32602, data: { field: "note" } });
    expect((await respond("reject")).result).toEqual({ ok: true });
    await client.turnEnd(result.turnId);
    expect(client.items("approval")).toMatchObject([{ decision: "reject", note: "use make" }]);
    expect(client.items("tool_exec")).toMatchObject([
      {
        status: "rejected",
        code: "tool.rejected",
        error: expect.stringMatching(/ was rejected by .*: use make$/),
      },
    ]);
  });

  it("a client rejects without having asked a user: the call ends as unattended, and no user has refused it", async () => {
    const { client, threadId, tool } = await setUp();
    const { result } = await client.startTurn(threadId);
    const { requestId } = (await client.notification("approval.requested")).params;
    const respond = (decision: string) =>
      client.call("approval.respond", { requestId, decision, reason: "unattended" });
    for (const decision of ["once", "always"])
      expect((await respond(decision)).error).toMatchObject({ code: -32602, data: { field: "reason" } });
    expect((await respond("reject")).result).toEqual({ ok: true });
    await client.turnEnd(result.turnId);
    expect(tool.runs).toHaveLength(0);
    expect(client.items("tool_exec")).toMatchObject([
      {
        status: "rejected",
        code: "approval.unattended",
        error: "No user could be asked to approve this call.",
      },
    ]);
    expect(client.items("approval")).toMatchObject([{ decision: "reject", reason: "unattended" }]);
    expect(client.all("approval.resolved")).toMatchObject([{ decision: "reject", reason: "unattended" }]);
  });

  it("timeoutMs: somebody may still come in time, and then the time begins anew", async () => {
    const clock = createManualClock();
    const { server, client, threadId } = await setUp({ clock, unattended: { timeoutMs: 1000 } });
    const { result } = await client.startTurn(threadId);
    await client.notification("approval.requested");
    client.wire.kill();
    await client.closed;
    clock.advance(999);
    const next = RawClient.connect(server);
    clock.advance(5000);
    const { events } = (await next.call("thread.get", { threadId })).result;
    expect(events.at(-1).type).toBe("approval.requested");
    next.wire.kill();
    await next.closed;
    clock.advance(1000);
    const last = RawClient.connect(server);
    await last.call("thread.subscribe", { threadId, afterSeq: 0 });
    await last.turnEnd(result.turnId);
    expect(last.items("tool_exec")).toMatchObject([{ code: "approval.unattended" }]);
  });
});

describe("thread.list", () => {
  it("gives pages that never overlap, and filters", async () => {
    const clock = createManualClock();
    const { client } = await setUp({ clock, resolveDirectory: (directory) => directory ?? "/a" });
    for (let index = 0; index < 7; index++) {
      if (index % 3 === 0) clock.advance(10);
      await client.call("thread.create", {
        title: `Number ${index}`,
        directory: index % 2 ? "/odd" : "/even",
      });
    }
    const all = (await client.call("thread.list")).result.threads;
    expect(all).toHaveLength(8);
    const pages = [];
    for (let cursor: string | undefined; ; ) {
      const { threads, nextCursor } = (
        await client.call("thread.list", { limit: 3, ...(cursor && { cursor }) })
      ).result;
      pages.push(...threads);
      if (nextCursor === undefined) break;
      cursor = nextCursor;
    }
    expect(pages).toEqual(all);
    expect((await client.call("thread.list", { directory: "/odd" })).result.threads).toHaveLength(3);
    expect((await client.call("thread.list", { title: "number 4" })).result.threads).toMatchObject([
      { title: "Number 4" },
    ]);
    expect((await client.call("thread.list", { updatedAfter: clock.now() })).result.threads).toEqual([]);
    expect((await client.call("thread.list", { cursor: "x" })).error?.code).toBe(-32602);
  });
});

describe("thread.delete", () => {
  it("removes a thread for everybody, but none with an active turn", async () => {
    const { server, client, threadId } = await setUp();
    const other = RawClient.connect(server);
    const { result } = await client.startTurn(threadId);
    await client.notification("approval.requested");
    expect((await client.call("thread.delete", { threadId })).error?.code).toBe(-32002);
    await client.call("turn.cancel", { threadId });
    await client.turnEnd(result.turnId);
    expect((await client.call("thread.delete", { threadId })).result).toEqual({ ok: true });
    await other.until(({ method, params }) => method === "thread.deleted" && params.threadId === threadId);
    expect((await client.call("thread.get", { threadId })).error?.code).toBe(-32001);
    expect((await client.call("thread.delete", { threadId })).error?.code).toBe(-32001);
    expect((await client.call("thread.list")).result.threads).toEqual([]);
  });
});

describe("large outputs", () => {
  it("are bounded in their items and kept whole in artifacts", async () => {
    const text = "0123456789".repeat(50);
    const tool = recordingTool("bash", "read", async (_input, { stdout }) => {
      for (const part of text.match(/.{1,7}/g) ?? []) void stdout(part);
      return { text };
    });
    const { client, threadId } = await setUp({
      tools: [tool],
      limits: { maxLogLength: 100, maxOutputLength: 100 },
    });
    const { result } = await client.startTurn(threadId);
    await client.turnEnd(result.turnId);
    expect(client.items("tool_log")).toMatchObject([{ text: text.slice(0, 100), truncated: true }]);
    expect(client.items("tool_exec")).toMatchObject([{ output: { truncated: true, length: 511 } }]);
    expect(client.items("artifact")).toMatchObject([
      {
        kind: "tool_output",
        mimeType: "text/plain",
        sizeBytes: 500,
        sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      },
      { kind: "tool_output", mimeType: "application/json", sizeBytes: 511 },
    ]);
  });
});
