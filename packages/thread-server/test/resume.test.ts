import { writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { createDeferred } from "@harnesskit/wire";
import { createManualClock } from "@harnesskit/wire/testing";
import { describe, expect, it } from "vitest";
import { type Tool, ToolError, type TurnRunner } from "../src/index.ts";
import type { ToolOutcome } from "../src/turn-runner.ts";
import type { RawClient } from "./support/raw-client.ts";
import { copied, killedWhileWaiting, ownDirectory, serve } from "./support/serve.ts";
import { recordingTool } from "./support/tools.ts";

const input = { command: "deploy" };

/** Asks for one call unless the history has its outcome, and says what became of it: what an agent does that reads the log. */
const loggingRunner: TurnRunner = {
  async run(turn) {
    const done = turn.history.find((item) => item.turnId === turn.turn.turnId && item.type === "tool_exec");
    const status = done?.type === "tool_exec" ? done.data?.status : undefined;
    const outcome = status ?? (await turn.callTool({ tool: "bash", input, callId: "c1", step: 0 })).status;
    const message = turn.message();
    message.append(`${turn.agent.name}: ${outcome}`);
    await message.complete();
  },
};

const logging = { runner: loggingRunner };

describe("a turn that waited when its server was killed", () => {
  it("still waits: another client answers, the action runs once, and the turn goes on to its end", async () => {
    const dir = await ownDirectory();
    const { threadId, turnId, requestId, left } = await killedWhileWaiting(dir, logging);
    const { client, tool } = serve({ root: left, ...logging });
    expect((await client.startTurn(threadId)).error).toMatchObject({ code: -32002, data: { turnId } });
    expect(tool.runs).toEqual([]);
    expect((await client.answer(requestId)).result).toEqual({
      ok: true,
    });
    const end = await client.turnEnd(turnId);
    expect(end.params).toMatchObject({ status: "completed", turn: { turnId } });
    expect(tool.runs).toEqual([input]);
    expect(client.items("tool_exec")).toMatchObject([{ status: "succeeded", approvedBy: requestId }]);
    expect(client.items("assistant_message")).toMatchObject([{ text: "code: succeeded" }]);
    const again = await client.answer(requestId);
    expect(again.error).toMatchObject({ code: -32004, data: { reason: "already_resolved" } });
    const events = await client.events(threadId);
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
    expect(events.filter(({ type }) => type === "turn.completed")).toHaveLength(1);
    expect(events.filter(({ type }) => type === "approval.requested")).toHaveLength(1);
  });

  it("can be cancelled", async () => {
    const dir = await ownDirectory();
    const { threadId, turnId, requestId, left } = await killedWhileWaiting(dir, logging);
    const { client, tool } = serve({ root: left, ...logging });
    expect((await client.call("turn.cancel", { threadId })).result).toEqual({ ok: true });
    expect((await client.turnEnd(turnId)).params.status).toBe("cancelled");
    expect((await client.answer(requestId)).error?.code).toBe(-32004);
    expect(tool.runs).toEqual([]);
  });

  it("does not run what is no longer what was shown", async () => {
    const dir = await ownDirectory();
    const { turnId, requestId, left } = await killedWhileWaiting(dir, logging);
    const tool = recordingTool("bash", "execute");
    const changed: Tool = {
      ...tool,
      prepare: async (given, scope) => ({
        ...(await tool.prepare(given, scope)),
        preview: "another preview",
      }),
    };
    const { client } = serve({ root: left, ...logging, tools: [changed] });
    const { error } = await client.answer(requestId);
    expect(error).toMatchObject({ code: -32004, data: { reason: "changed" } });
    expect((await client.turnEnd(turnId)).params.status).toBe("completed");
    expect(tool.runs).toEqual([]);
    expect(client.items("tool_exec")).toMatchObject([{ status: "failed", code: "approval.changed" }]);
    expect(client.all("approval.resolved")).toMatchObject([
      { requestId, reason: "changed", resolvedBy: "server" },
    ]);
  });

  it("expires on the day that was shown", async () => {
    const dir = await ownDirectory();
    const clock = createManualClock();
    const options = { ...logging, clock, approvalTimeoutMs: 60_000 };
    const { turnId, requestId, left } = await killedWhileWaiting(dir, options);
    clock.advance(59_000);
    const { client, tool } = serve({ root: left, ...options });
    await client.call("thread.subscribe", { threadId: await onlyThread(client) });
    clock.advance(1000);
    await client.turnEnd(turnId);
    expect(client.items("tool_exec")).toMatchObject([{ status: "rejected", code: "approval.expired" }]);
    expect((await client.answer(requestId)).error?.code).toBe(-32004);
    expect(tool.runs).toEqual([]);
  });

  it("is closed as interrupted where its agent is no more", async () => {
    const dir = await ownDirectory();
    const { threadId, requestId, left } = await killedWhileWaiting(dir, logging);
    const { client } = serve({ root: left, ...logging, agents: [{ name: "other", systemPrompt: "" }] });
    const events = await client.events(threadId);
    expect(events.at(-1)).toMatchObject({ type: "turn.error", data: { code: "interrupted" } });
    expect((await client.answer(requestId)).error?.code).toBe(-32004);
  });
});

describe("a runner that starts over in a resumed turn", () => {
  /** Makes the calls of `asked` in their order, each under its own id or one that repeats, and says what came of them. */
  const repeating = (...asked: { callId: string; input: { command: string } }[]) => {
    const seen: { isResumed: boolean; outcomes: ToolOutcome[] }[] = [];
    const runner: TurnRunner = {
      async run(turn) {
        const outcomes: ToolOutcome[] = [];
        seen.push({ isResumed: turn.isResumed, outcomes });
        for (const call of asked) outcomes.push(await turn.callTool({ ...call, tool: "bash", step: 0 }));
      },
    };
    return { runner, seen };
  };

  it("gets each recorded outcome once, in order; what is recorded does not run again", async () => {
    const dir = await ownDirectory();
    const [pay, ship] = [{ command: "pay" }, { command: "ship" }];
    // The model repeats its id: the second payment is another one, and so is the shipment.
    const { runner, seen } = repeating(
      { callId: "c", input: pay },
      { callId: "c", input: pay },
      { callId: "c", input: ship },
    );
    const first = await killedWhileWaiting(dir, { runner });
    const second = serve({ root: first.left, runner });
    await second.client.answer(first.requestId);
    const asked = await second.client.notification(
      "approval.requested",
      ({ requestId }) => requestId !== first.requestId,
    );
    expect(second.tool.runs).toEqual([pay]);
    await copied(first.left, join(dir, "again"));
    await second.server.close();
    const third = serve({ root: join(dir, "again"), runner });
    const { requestId } = asked.params;
    await third.client.answer(requestId, "always");
    const last = await third.client.notification(
      "approval.requested",
      ({ metadata }) => metadata.input.command === "ship",
    );
    await third.client.answer(last.params.requestId, "reject");
    await third.client.turnEnd(first.turnId);
    expect(third.tool.runs).toEqual([pay]);
    const ok = { status: "succeeded", output: { ok: true } };
    const rejected = { status: "rejected", code: "tool.rejected", error: expect.any(String) };
    expect(seen.map(({ isResumed }) => isResumed)).toEqual([false, true, true]);
    expect(seen.at(-1)?.outcomes).toEqual([ok, ok, rejected]);
  });

  it("gets the outcome of what cannot be prepared again after it ran, and of what an always answer allowed", async () => {
    const dir = await ownDirectory();
    const { runner, seen } = repeating({ callId: "c1", input: { command: "pay" } });
    const { left, requestId, turnId } = await killedWhileWaiting(dir, { runner });
    const ran = recordingTool("bash", "execute");
    const once: Tool = {
      ...ran,
      prepare: async (given, scope) => {
        if (ran.runs.length > 0) throw new ToolError("tool.gone", "It ran already.");
        return ran.prepare(given, scope);
      },
    };
    const { client } = serve({ root: left, runner, tools: [once] });
    await client.answer(requestId, "always");
    expect((await client.turnEnd(turnId)).params.status).toBe("completed");
    expect(ran.runs).toHaveLength(1);
    expect(seen.at(-1)?.outcomes).toEqual([{ status: "succeeded", output: { ok: true } }]);
    expect(client.items("tool_exec")).toHaveLength(1);
  });
});

const onlyThread = async (client: RawClient): Promise<string> =>
  (await client.call("thread.list")).result.threads[0].threadId;

describe("an action that may have run", () => {
  it("is not run again and is reported as unknown, whatever the answer was", async () => {
    const dir = await ownDirectory();
    const runs = createDeferred<void>();
    const hanging = recordingTool("bash", "execute", () => {
      runs.resolve();
      return new Promise(() => {});
    });
    const first = serve({
      root: join(dir, "first"),
      ...logging,
      tools: [hanging],
      limits: { cancelTimeoutMs: 1 },
    });
    const threadId = await first.client.createThread();
    const { result } = await first.client.startTurn(threadId);
    const { params } = await first.client.notification("approval.requested");
    await first.client.answer(params.requestId);
    await runs.promise;
    await copied(join(dir, "first"), join(dir, "left"));
    const lock = { pid: 1, host: hostname(), nonce: "n" };
    await writeFile(join(dir, "left/threads", threadId, "lock.json"), JSON.stringify(lock));
    const { client, tool } = serve({ root: join(dir, "left"), ...logging });
    const events = await client.events(threadId);
    expect(events.slice(-2)).toMatchObject([
      { type: "item.completed", data: { type: "tool_exec", item: { data: { status: "unknown" } } } },
      { type: "turn.error", data: { turnId: result.turnId, code: "interrupted" } },
    ]);
    expect(tool.runs).toEqual([]);
  });
});
