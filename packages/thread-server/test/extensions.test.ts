import { createManualClock } from "@harnesskit/wire/testing";
import { describe, expect, it } from "vitest";
import { createMemoryThreadStore } from "../src/memory-thread-store.ts";
import { RawClient } from "./support/raw-client.ts";
import { openServer, type ServeOptions, serve } from "./support/serve.ts";
import { recordingTool, sayingRunner } from "./support/tools.ts";

const setUp = async (options: ServeOptions = {}) => {
  const served = serve(options);
  return { ...served, threadId: await served.client.createThread() };
};

describe("thread.subscribe", () => {
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
    await late.answer(params.requestId);
    const { params: told } = await client.notification("approval.resolved");
    expect(told).toMatchObject({ requestId: params.requestId, decision: "once", resolvedBy: "late" });
    await client.turnEnd(result.turnId);
    expect(tool.runs).toHaveLength(1);
  });
});

describe("clientRequestId", () => {
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
    const later = openServer({ store, runner: sayingRunner("y") });
    expect((await RawClient.connect(later).call("turn.start", params)).result).toEqual({ turnId });
    expect(client.all("turn.started")).toHaveLength(1);
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
    await client.runTurn(sibling);
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
    expect(grants).toMatchObject([
      { scope: "thread", tool: "bash", input: { command: "l" }, match: "start" },
    ]);
    starts.unshift({ command: "l" });
    await client.runTurn(threadId);
    expect(tool.runs).toHaveLength(2);
    starts.length = 0;
    await client.startTurn(threadId);
    const { params } = await client.notification(
      "approval.requested",
      ({ requestId }) => requestId !== grants[0].requestId,
    );
    const refused = await client.call("approval.respond", {
      ...{ requestId: params.requestId, decision: "always", match: "start" },
    });
    expect(refused.error).toMatchObject({ code: -32602, data: { field: "match" } });
    expect((await client.answer(params.requestId, "reject")).result).toEqual({ ok: true });
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

  it.each<[string, { note?: string; reason?: string }, string, RegExp]>([
    [
      "the agent is told why a user rejects",
      { note: "use make" },
      "tool.rejected",
      / was rejected by .*: use make$/,
    ],
    [
      "a client rejects without having asked a user: no user has refused the call",
      { reason: "unattended" },
      "approval.unattended",
      /^No user could be asked to approve this call\.$/,
    ],
  ])("%s, and only a rejection says so", async (_what, more, code, error) => {
    const { client, threadId, tool } = await setUp();
    const { result } = await client.startTurn(threadId);
    const { requestId } = (await client.notification("approval.requested")).params;
    const [field] = Object.keys(more);
    for (const decision of ["once", "always"])
      expect((await client.answer(requestId, decision, more)).error).toMatchObject({
        code: -32602,
        data: { field },
      });
    expect((await client.answer(requestId, "reject", more)).result).toEqual({ ok: true });
    await client.turnEnd(result.turnId);
    expect(tool.runs).toHaveLength(0);
    const refused = { status: "rejected", code, error: expect.stringMatching(error) };
    expect(client.items("tool_exec")).toMatchObject([refused]);
    expect(client.items("approval")).toMatchObject([{ decision: "reject", ...more }]);
    expect(client.all("approval.resolved")[0]).toMatchObject({ decision: "reject" });
    expect(client.all("approval.resolved")[0].reason).toBe(more.reason);
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

describe("large outputs", () => {
  it("are bounded in their items, and in the artifacts that have the rest", async () => {
    const text = "0123456789".repeat(50);
    const tool = recordingTool("bash", "read", async (_input, { stdout }) => {
      for (const part of text.match(/.{1,7}/g) ?? []) void stdout(part);
      return { text };
    });
    const { client, threadId } = await setUp({
      tools: [tool],
      limits: { maxLogLength: 100, maxOutputLength: 100, maxArtifactLength: 450 },
    });
    await client.runTurn(threadId);
    expect(client.items("tool_log")).toMatchObject([{ text: text.slice(0, 100), truncated: true }]);
    expect(client.items("tool_exec")).toMatchObject([{ output: { truncated: true, length: 511 } }]);
    expect(client.items("artifact")).toMatchObject([
      {
        kind: "tool_output",
        mimeType: "text/plain",
        sizeBytes: 450,
        sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      },
      { kind: "tool_output", mimeType: "application/json", sizeBytes: 450 },
    ]);
  });
});
