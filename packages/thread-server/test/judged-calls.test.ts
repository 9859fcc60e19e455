import type { JsonObject } from "@harnesskit/protocol/envelope";
import { describe, expect, it } from "vitest";
import type { ToolVerdict } from "../src/gates.ts";
import { ToolError, type ToolGate, undecidedCodes } from "../src/index.ts";
import { killedWhileWaiting, ownDirectory, type ServeOptions, serve as serveAgent } from "./support/serve.ts";
import { recordingTool } from "./support/tools.ts";

const asked = { command: "deploy" };
const by = { by: "policy test", rule: "deploys" };

const gateOf = (decide: (command: unknown) => ToolVerdict): ToolGate => ({
  before: ({ input }) => decide(input.command),
});

const serve = (decide: (command: unknown) => ToolVerdict, options: ServeOptions = {}) =>
  serveAgent({ input: asked, gate: gateOf(decide), ...options });

describe("what a gate says of itself", () => {
  it.each<[string, ToolVerdict, object]>([
    [
      "an allowed call",
      { verdict: "allow" },
      { status: "succeeded", judgement: { decision: "allow", ...by } },
    ],
    [
      "a blocked one, with its code",
      { verdict: "block", reason: "No.", code: undecidedCodes.timeout },
      { status: "blocked", code: "gate.timeout", error: "No.", judgement: { decision: "block", ...by } },
    ],
    [
      "one that a human refused where the gate asked",
      { verdict: "block", reason: "No.", isRejection: true },
      { status: "rejected", code: "tool.rejected", error: "No.", judgement: { decision: "block", ...by } },
    ],
  ])("stands on %s", async (_what, verdict, said) => {
    const { client, tool } = serve(() => ({ ...verdict, judgement: by }));
    await client.runTurn();
    expect(tool.runs).toHaveLength(verdict.verdict === "allow" ? 1 : 0);
    expect(client.items("tool_exec")).toMatchObject([said]);
  });

  it("stands on a changed one, together with what was asked for", async () => {
    const { client, tool } = serve((command) =>
      command === "deploy"
        ? { verdict: "modify", input: { command: "deploy --dry-run" }, reason: "gently", judgement: by }
        : { verdict: "ask", reason: "Sure?", judgement: by },
    );
    const { result } = await client.startTurn(await client.createThread());
    const { params } = await client.notification("approval.requested");
    expect(params.metadata).toMatchObject({ input: { command: "deploy --dry-run" }, reason: "Sure?" });
    await client.answer(params.requestId);
    await client.turnEnd(result.turnId);
    expect(tool.runs).toEqual([{ command: "deploy --dry-run" }]);
    expect(client.items("tool_exec")).toMatchObject([
      {
        input: { command: "deploy --dry-run" },
        judgement: { decision: "ask", ...by, modified: { requested: asked, reason: "gently", ...by } },
      },
    ]);
    expect(client.all("approval.requested")).toHaveLength(1);
  });

  it("stands on a changed one with the reason of its judgement, where it says no other", async () => {
    const { client } = serve((command) =>
      command === "deploy"
        ? { verdict: "modify", input: { command: "ls" }, judgement: { ...by, reason: "gently" } }
        : { verdict: "allow", judgement: by },
    );
    await client.runTurn();
    expect(client.items("tool_exec")).toMatchObject([
      { judgement: { decision: "allow", modified: { requested: asked, reason: "gently" } } },
    ]);
  });

  it("stands on a call that it changed to something that the tool does not take; it does not run", async () => {
    const tool = recordingTool("bash", "execute");
    const strict = {
      ...tool,
      prepare: (input: unknown, scope: Parameters<typeof tool.prepare>[1]) =>
        (input as { command?: unknown }).command === 5
          ? Promise.reject(new ToolError("tool.invalid_input", "command: expected a text"))
          : tool.prepare(input, scope),
    };
    const { client } = serve(() => ({ verdict: "modify", input: { command: 5 } }), {
      tools: [strict],
    });
    await client.runTurn();
    expect(tool.runs).toEqual([]);
    expect(client.items("tool_exec")).toMatchObject([
      { status: "blocked", code: "gate.invalid_input", error: expect.stringContaining("expected a text") },
    ]);
  });

  it.each<[string, JsonObject, string]>([
    ["a key that the tool drops", { command: "ls", cwd: "/tmp" }, "cwd would be left out"],
    ["a value that the tool converts", { command: " ls" }, "command would become another value"],
    ["a key that the tool adds", { command: "ls", times: null }, "times would become another value"],
  ])("blocks a change with %s, and names it", async (_name, wanted, text) => {
    const tool = recordingTool("bash", "execute");
    const lenient = {
      ...tool,
      prepare: (input: unknown, scope: Parameters<typeof tool.prepare>[1]) => {
        const { command, times } = input as { command: string; times?: number };
        const taken = times === undefined ? {} : { times: times ?? 1 };
        return tool.prepare({ command: command.trim(), ...taken }, scope);
      },
    };
    const { client } = serve(() => ({ verdict: "modify", input: wanted, judgement: by }), {
      tools: [lenient],
    });
    await client.runTurn();
    expect(tool.runs).toEqual([]);
    expect(client.items("tool_exec")).toMatchObject([
      { status: "blocked", code: "gate.invalid_input", error: expect.stringContaining(text), judgement: by },
    ]);
  });

  it("does not call what was cancelled meanwhile blocked", async () => {
    const gate: ToolGate = {
      before: (_call, { signal }) => {
        signal.throwIfAborted();
        return new Promise((_resolve, reject) =>
          signal.addEventListener("abort", () => reject(signal.reason)),
        );
      },
    };
    const observed: string[] = [];
    const { client, tool } = serve(() => ({ verdict: "allow" }), {
      gate,
      observer: { agentStarted: () => void observed.push("started") },
    });
    const threadId = await client.createThread();
    const { result } = await client.startTurn(threadId);
    await client.notification("item.completed", ({ type }) => type === "user_message");
    await client.call("turn.cancel", { threadId });
    expect((await client.turnEnd(result.turnId)).params.status).toBe("cancelled");
    expect(tool.runs).toEqual([]);
    expect(client.items("tool_exec")).not.toContainEqual(expect.objectContaining({ status: "blocked" }));
    expect(observed).toEqual(["started"]);
  });
});

describe("a call that waited when its server was killed", () => {
  it("is asked about again where the gate changes it since: the answer was not about that", async () => {
    const dir = await ownDirectory();
    const killed = await killedWhileWaiting(dir, { input: asked, gate: gateOf(() => ({ verdict: "ask" })) });
    const again = serve(
      (command) =>
        command === "deploy"
          ? { verdict: "modify", input: { command: "ls" }, judgement: by }
          : { verdict: "allow" },
      { root: killed.left, runner: { run: async () => {} } },
    );
    await again.client.answer(killed.requestId);
    const second = await again.client.notification("approval.requested");
    expect(second.params.metadata.input).toEqual({ command: "ls" });
    expect(again.tool.runs).toEqual([]);
    await again.client.answer(second.params.requestId);
    await again.client.turnEnd(killed.turnId);
    expect(again.tool.runs).toEqual([{ command: "ls" }]);
    expect(again.client.items("tool_exec")).toMatchObject([
      {
        status: "succeeded",
        approvedBy: second.params.requestId,
        judgement: { modified: { requested: asked } },
      },
    ]);
  });
});

describe("an observer", () => {
  it("hears of a turn in order, and changes nothing by what it throws", async () => {
    const heard: unknown[] = [];
    const note = (...what: unknown[]): never => {
      heard.push(what);
      throw new TypeError("changes nothing");
    };
    const { server, client, errors } = serve(() => ({ verdict: "allow" }), {
      observer: {
        turnStarted: ({ agent, isResumed }) => note("turn", agent, isResumed),
        agentStarted: () => note("agent"),
        callStarted: ({ input }) => note("call", input),
        responded: (_turn, { text }) => note("said", text),
        turnEnded: (_turn, { status }) => note("end", status),
      },
    });
    await client.runTurn();
    await server.close();
    expect(heard).toEqual([
      ["turn", "code", false],
      ["agent"],
      ["call", asked],
      ["said", "succeeded"],
      ["end", "completed"],
    ]);
    expect(errors).toHaveLength(heard.length);
  });
});
