import { describe, expect, it } from "vitest";
import type { PromptVerdict } from "../src/gates.ts";
import type { PromptGate, TurnRunner } from "../src/index.ts";
import { killedWhileWaiting, ownDirectory, type ServeOptions, serve as serveAgent } from "./support/serve.ts";

/** An agent that says what it was given: in this turn, and in all of the history. */
const echoing = (): TurnRunner & { readonly given: unknown[] } => {
  const given: unknown[] = [];
  return {
    given,
    async run(turn) {
      const history = turn.history.flatMap((item) =>
        item.type === "user_message" ? [item.data?.content] : [],
      );
      given.push({ input: turn.input, history });
      const message = turn.message();
      message.append("heard");
      await message.complete();
    },
  };
};

const serve = (options: ServeOptions) => {
  const runner = echoing();
  return { runner, ...serveAgent({ runner, ...options }) };
};

const gate = (decide: (text: string) => PromptVerdict): PromptGate => ({
  before: ({ text }) => decide(text),
});
const by = { by: "policy test", rule: "words" };
const text = (said: string) => [{ type: "text", text: said }];

describe("the gate of prompts", () => {
  it("blocks one: the turn ends with the reason, and no later turn is given it", async () => {
    const { runner, client } = serve({
      promptGate: gate((said) =>
        said === "secret"
          ? { verdict: "block", reason: "No secrets.", code: "policy.blocked", judgement: by }
          : { verdict: "allow" },
      ),
    });
    const threadId = await client.createThread();
    const end = await client.runTurn(threadId, "secret");
    expect(end).toMatchObject({
      method: "turn.error",
      params: { error: "No secrets.", code: "policy.blocked" },
    });
    expect(runner.given).toEqual([]);
    expect(client.items("user_message")).toMatchObject([
      { content: text("secret"), withheld: true, judgement: { decision: "block", ...by } },
    ]);
    await client.runTurn(threadId, "hello");
    expect(runner.given).toEqual([{ input: text("hello"), history: [text("hello")] }]);
  });

  it("changes one: both are shown, the agent gets the one that was judged again, and files stay", async () => {
    const judged: string[] = [];
    const { runner, client } = serve({
      promptGate: gate((said) => {
        judged.push(said);
        return said.includes("key=1")
          ? { verdict: "modify", text: said.replace("key=1", "[key]"), reason: "a key", judgement: by }
          : { verdict: "allow", judgement: by };
      }),
    });
    const threadId = await client.createThread();
    const file = { type: "file", path: "a.txt" };
    const input = [file, ...text("use key=1"), ...text("now")];
    const { result } = await client.call("turn.start", { threadId, input });
    await client.turnEnd(result.turnId);
    expect(judged).toEqual(["use key=1\n\nnow", "use [key]\n\nnow"]);
    const content = [file, ...text("use [key]\n\nnow")];
    expect(runner.given).toEqual([{ input: content, history: [content] }]);
    expect(client.items("user_message")).toMatchObject([
      { content, judgement: { decision: "allow", modified: { requested: input, reason: "a key", ...by } } },
    ]);
  });

  it.each([
    ["once", "completed", 1],
    ["reject", undefined, 0],
  ])("asks, and does as the user says: %s", async (decision, status, count) => {
    const { runner, client } = serve({
      promptGate: gate(() => ({ verdict: "ask", reason: "Unusual.", judgement: by })),
    });
    const { result } = await client.startTurn(await client.createThread(), "odd");
    const { params } = await client.notification("approval.requested");
    expect(params).toMatchObject({
      permission: "prompt",
      metadata: { tool: "prompt", input: { text: "odd" }, reason: "Unusual." },
    });
    expect(runner.given).toEqual([]);
    await client.call("approval.respond", { requestId: params.requestId, decision });
    const end = await client.turnEnd(result.turnId);
    expect(end.params.status).toBe(status);
    if (status === undefined) expect(end.params.code).toBe("prompt.rejected");
    expect(runner.given).toHaveLength(count);
  });

  it("keeps what was not judged from later turns, where the turn was cancelled meanwhile", async () => {
    let isFirst = true;
    const promptGate: PromptGate = {
      before: (_prompt, { signal }) => {
        if (!isFirst) return { verdict: "allow" };
        isFirst = false;
        signal.throwIfAborted();
        return new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => reject(signal.reason));
        });
      },
    };
    const { runner, client } = serve({ promptGate });
    const threadId = await client.createThread();
    const { result } = await client.startTurn(threadId, "unjudged");
    await client.notification("item.started", ({ type }) => type === "user_message");
    await client.call("turn.cancel", { threadId });
    expect((await client.turnEnd(result.turnId)).params.status).toBe("cancelled");
    await client.runTurn(threadId, "next");
    expect(runner.given).toEqual([{ input: text("next"), history: [text("next")] }]);
  });
});

describe("a prompt that waited when its server was killed", () => {
  it.each<[string, (said: string) => PromptVerdict, string, object, unknown[]]>([
    ["asks, which is answered", () => ({ verdict: "ask" }), "once", { status: "completed" }, ["go"]],
    ["allows", () => ({ verdict: "allow" }), "always", { status: "completed" }, ["go"]],
    ["blocks, which wins", () => ({ verdict: "block", reason: "New." }), "once", { error: "New." }, []],
    ["is not asked after a refusal", () => ({ verdict: "allow" }), "reject", { code: "prompt.rejected" }, []],
  ])("waits on; the gate %s", async (_how, decide, decision, end, given) => {
    const dir = await ownDirectory();
    const asks: PromptGate = gate(() => ({ verdict: "ask", reason: "Unusual." }));
    const killed = await killedWhileWaiting(dir, { runner: echoing(), promptGate: asks });
    const { threadId, turnId, requestId, left } = killed;
    const { runner, client } = serve({ root: left, promptGate: gate(decide) });
    expect((await client.startTurn(threadId)).error).toMatchObject({ code: -32002, data: { turnId } });
    const answer = await client.answer(requestId, decision);
    expect(answer.result).toEqual({ ok: true });
    expect((await client.turnEnd(turnId)).params).toMatchObject(end);
    expect(runner.given).toEqual(
      given.map((said) => ({ input: text(said as string), history: [text(said as string)] })),
    );
  });
});
