import { ApprovalMetadataSchema } from "@harnesskit/protocol/threads";
import { digest } from "@harnesskit/wire";
import { describe, expect, it } from "vitest";
import type { ToolContext, ToolGate } from "../src/index.ts";
import { RawClient } from "./support/raw-client.ts";
import { type ServeOptions, serve } from "./support/serve.ts";
import { callingRunner, recordingTool } from "./support/tools.ts";

const input = { command: "ls", nested: { b: 1, a: [true, null] } };

const setUp = async (options: ServeOptions = {}) => {
  const { tool: bash, ...served } = serve({ input, ...options });
  return { ...served, bash, threadId: await served.client.createThread() };
};

/** The n-th approval that was asked for. */
const asked = async (client: RawClient, index = 0) => {
  await client.until(() => client.all("approval.requested").length > index);
  return client.all("approval.requested")[index];
};

describe("approvals", () => {
  it("asks for what executes with exactly what will run", async () => {
    const { client, bash, threadId } = await setUp();
    const { result } = await client.startTurn(threadId);
    const request = await asked(client);
    expect(request).toEqual({
      threadId,
      turnId: result.turnId,
      itemId: expect.any(String),
      requestId: expect.any(String),
      permission: "bash",
      metadata: { tool: "bash", input, preview: "would bash", digest: await digest({ tool: "bash", input }) },
    });
    ApprovalMetadataSchema.parse(request.metadata);
    expect(bash.runs).toEqual([]);
    const started = client.all("item.started").find(({ type }) => type === "approval");
    expect(started).toMatchObject({
      itemId: request.itemId,
      item: { data: { requestId: request.requestId } },
    });
    expect(started.item.data).not.toHaveProperty("decision");
    await client.answer(request.requestId);
    await client.turnEnd(result.turnId);
    expect(client.items("approval")).toMatchObject([
      { requestId: request.requestId, permission: "bash", decision: "once", resolvedBy: "client-1" },
    ]);
  });

  it("passes the approval and its author to the tool, and none where no human was asked", async () => {
    const approvals: unknown[] = [];
    const run = async (_input: unknown, { approval }: ToolContext) => {
      approvals.push(approval);
      return { ok: true };
    };
    const { client, threadId } = await setUp({
      tools: [recordingTool("bash", "execute", run), recordingTool("read", "read", run)],
      runner: callingRunner({ tool: "read", input: {} }, { tool: "bash", input }),
    });
    const { result } = await client.startTurn(threadId);
    const { requestId } = await asked(client);
    await client.answer(requestId, "always");
    await client.turnEnd(result.turnId);
    await client.runTurn(threadId);
    const approval = { id: requestId, by: "client-1" };
    expect(approvals).toEqual([undefined, approval, undefined, approval]);
  });

  it("once: replies first, runs once, and asks again for the next equal call", async () => {
    const { client, bash, threadId } = await setUp({
      runner: callingRunner({ tool: "bash", input }, { tool: "bash", input }),
    });
    const { result } = await client.startTurn(threadId);
    const first = await asked(client);
    const reply = await client.answer(first.requestId);
    expect(reply.result).toEqual({ ok: true });
    const completed = await client.notification("item.completed", ({ itemId }) => itemId === first.itemId);
    expect(client.received.indexOf(reply)).toBeLessThan(client.received.indexOf(completed));
    const second = await asked(client, 1);
    expect(second.requestId).not.toBe(first.requestId);
    expect(second.metadata.digest).toBe(first.metadata.digest);
    expect(bash.runs).toEqual([input]);
    await client.answer(second.requestId);
    await client.turnEnd(result.turnId);
    expect(bash.runs).toEqual([input, input]);
    expect(client.items("tool_exec")).toEqual([
      {
        tool: "bash",
        input,
        callId: "call-0",
        step: 0,
        status: "succeeded",
        output: { ok: true },
        approvedBy: first.requestId,
      },
      {
        tool: "bash",
        input,
        callId: "call-1",
        step: 1,
        status: "succeeded",
        output: { ok: true },
        approvedBy: second.requestId,
      },
    ]);
  });

  it("always: holds for exactly this call, in later turns too", async () => {
    const other = { ...input, command: "ls; rm -rf /" };
    const { client, bash, threadId } = await setUp({
      runner: callingRunner(
        { tool: "bash", input },
        { tool: "bash", input: { nested: input.nested, command: "ls" } },
        { tool: "bash", input: other },
      ),
    });
    const { result } = await client.startTurn(threadId);
    const first = await asked(client);
    await client.answer(first.requestId, "always");
    const second = await asked(client, 1);
    expect(second.metadata.input).toEqual(other);
    expect(bash.runs).toEqual([input, input]);
    await client.answer(second.requestId, "reject");
    await client.turnEnd(result.turnId);
    expect(client.items("tool_exec")[1]).toMatchObject({ approvedBy: first.requestId });
    const later = await client.startTurn(threadId);
    const third = await asked(client, 2);
    expect(third.metadata.input).toEqual(other);
    await client.answer(third.requestId, "reject");
    await client.turnEnd(later.result.turnId);
    expect(bash.runs).toHaveLength(4);
  });

  it("a hundred answers at once have one effect, and the others are told who was first", async () => {
    const { server, client, bash, threadId } = await setUp();
    await client.call("initialize", { clientInfo: { name: "first" } });
    const { result } = await client.startTurn(threadId);
    const { requestId } = await asked(client);
    const others = await Promise.all(Array.from({ length: 99 }, async () => RawClient.connect(server)));
    const answers = await Promise.all([client, ...others].map((from) => from.answer(requestId)));
    expect(answers.filter((answer) => answer.result?.ok === true)).toHaveLength(1);
    const refused = answers.filter(({ error }) => error);
    expect(refused).toHaveLength(99);
    for (const { error } of refused) {
      expect(error).toMatchObject({ code: -32004, data: { reason: "already_resolved" } });
      expect(error?.data?.resolvedBy).toEqual(expect.any(String));
    }
    await client.turnEnd(result.turnId);
    expect(bash.runs).toEqual([input]);
    const late = await client.answer(requestId, "reject");
    expect(late.error).toMatchObject({ code: -32004, data: { reason: "already_resolved" } });
  });

  it("a cancelled turn takes its question back", async () => {
    const { client, bash, threadId } = await setUp();
    const { result } = await client.startTurn(threadId);
    const { requestId } = await asked(client);
    await client.call("turn.cancel", { threadId });
    const end = await client.turnEnd(result.turnId);
    expect(end.params).toMatchObject({ status: "cancelled" });
    const late = await client.answer(requestId);
    expect(late.error).toMatchObject({
      code: -32004,
      data: { reason: "already_resolved", resolvedBy: "server" },
    });
    expect(bash.runs).toEqual([]);
    expect(client.items("approval")).toMatchObject([{ requestId, reason: "The turn was cancelled." }]);
    expect(client.items("tool_exec")).toMatchObject([{ status: "cancelled" }]);
  });
});

describe("the gate", () => {
  const gated = async (gate: ToolGate) => {
    const { client, bash, threadId } = await setUp({ gate });
    const { result } = await client.startTurn(threadId);
    return { client, bash, end: () => client.turnEnd(result.turnId) };
  };

  it("blocks when it throws, and says nothing of why", async () => {
    const { client, bash, end } = await gated({
      before: () => Promise.reject(new TypeError("secret /path")),
    });
    await end();
    expect(bash.runs).toEqual([]);
    expect(client.items("tool_exec")).toMatchObject([{ status: "blocked", code: "gate_failed" }]);
    expect(JSON.stringify(client.received)).not.toContain("secret");
  });

  it("changes a call, is asked again about the change, and cannot do so for ever", async () => {
    const judged: unknown[] = [];
    const { client, bash, end } = await gated({
      before: (call) => {
        judged.push(call.input);
        return call.input.command === "ls"
          ? { verdict: "modify", input: { command: "ls -l" } }
          : { verdict: "allow" };
      },
    });
    await end();
    expect(judged).toEqual([input, { command: "ls -l" }]);
    expect(bash.runs).toEqual([{ command: "ls -l" }]);
    expect(client.items("tool_exec")).toMatchObject([{ input: { command: "ls -l" }, status: "succeeded" }]);
    const endless = await gated({ before: () => ({ verdict: "modify", input: { command: "x" } }) });
    await endless.end();
    expect(endless.client.items("tool_exec")).toMatchObject([
      {
        status: "blocked",
        code: "gate_failed",
        error: "It was to be changed again and again, so it does not run.",
      },
    ]);
  });
});
