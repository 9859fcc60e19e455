import { describe, expect, it } from "vitest";
import {
  createThreadServer,
  type ThreadServerOptions,
  type ToolContext,
  type ToolGate,
} from "../src/index.ts";
import { RawClient } from "./support/raw-client.ts";
import { callingRunner, recordingTool } from "./support/tools.ts";

const input = { command: "ls", nested: { b: 1, a: [true, null] } };

const setUp = async (options: Partial<ThreadServerOptions> = {}) => {
  const bash = recordingTool("bash", "execute");
  const read = recordingTool("read", "read");
  const runner = callingRunner({ tool: "bash", input });
  const server = createThreadServer({ runner, tools: [bash, read], ...options });
  const client = RawClient.connect(server);
  return { server, client, bash, read, threadId: await client.createThread() };
};

/** The n-th approval that was asked for. */
const asked = async (client: RawClient, index = 0) => {
  await client.until(() => client.all("approval.requested").length > index);
  return client.all("approval.requested")[index];
};

describe("approvals", () => {
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
    await client.call("approval.respond", { requestId, decision: "always" });
    await client.turnEnd(result.turnId);
    const again = await client.startTurn(threadId);
    await client.turnEnd(again.result.turnId);
    const approval = { id: requestId, by: "client-1" };
    expect(approvals).toEqual([undefined, approval, undefined, approval]);
  });

  it("a hundred answers at once have one effect, and the others are told who was first", async () => {
    const { server, client, bash, threadId } = await setUp();
    await client.call("initialize", { clientInfo: { name: "first" } });
    const { result } = await client.startTurn(threadId);
    const { requestId } = await asked(client);
    const others = await Promise.all(Array.from({ length: 99 }, async () => RawClient.connect(server)));
    const answers = await Promise.all(
      [client, ...others].map((from) => from.call("approval.respond", { requestId, decision: "once" })),
    );
    expect(answers.filter((answer) => answer.result?.ok === true)).toHaveLength(1);
    const refused = answers.filter(({ error }) => error);
    expect(refused).toHaveLength(99);
    for (const { error } of refused) {
      expect(error).toMatchObject({ code: -32004, data: { reason: "already_resolved" } });
      expect(error?.data?.resolvedBy).toEqual(expect.any(String));
    }
    await client.turnEnd(result.turnId);
    expect(bash.runs).toEqual([input]);
    const late = await client.call("approval.respond", { requestId, decision: "reject" });
    expect(late.error).toMatchObject({ code: -32004, data: { reason: "already_resolved" } });
  });
});

describe("the gate", () => {
  it("lets reading pass without a question", async () => {
    const { client, read, threadId } = await setUp({ runner: callingRunner({ tool: "read", input }) });
    const { result } = await client.startTurn(threadId);
    await client.turnEnd(result.turnId);
    expect(read.runs).toEqual([input]);
    expect(client.all("approval.requested")).toEqual([]);
  });

  const gated = async (gate: ToolGate) => {
    const { client, bash, threadId } = await setUp({ gate });
    const { result } = await client.startTurn(threadId);
    return { client, bash, end: () => client.turnEnd(result.turnId) };
  };

  it("blocks, with the reason on the item and in what the runner is told", async () => {
    const { client, bash, end } = await gated({
      before: () => ({ verdict: "block", reason: "Not today.", code: "policy.block" }),
    });
    await end();
    expect(bash.runs).toEqual([]);
    expect(client.items("tool_exec")).toMatchObject([
      { status: "blocked", error: "Not today.", code: "policy.block" },
    ]);
    expect(client.items("assistant_message")).toEqual([{ text: "blocked" }]);
  });

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

  it("says who wanted a change that the tool does not take", async () => {
    const judgement = { by: "policy shop", rule: "odd" };
    const { client, bash, end } = await gated({
      before: () => ({ verdict: "modify", input: [] as never, judgement }),
    });
    await end();
    expect(bash.runs).toEqual([]);
    expect(client.items("tool_exec")).toMatchObject([
      { status: "blocked", code: "gate.invalid_input", judgement: { decision: "block", ...judgement } },
    ]);
  });

  it("hears once of each call how it ended", async () => {
    const heard: unknown[] = [];
    const { end } = await gated({
      before: () => ({ verdict: "allow" }),
      after: ({ tool }, { status }) => {
        heard.push([tool.name, status]);
        throw new TypeError("changes nothing");
      },
    });
    expect((await end()).method).toBe("turn.completed");
    expect(heard).toEqual([["bash", "succeeded"]]);
  });
});
