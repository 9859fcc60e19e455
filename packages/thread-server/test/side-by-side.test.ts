import type { JsonObject } from "@harnesskit/protocol/envelope";
import { createDeferred, type Deferred } from "@harnesskit/wire";
import type { MockLanguageModelV3 } from "ai/test";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { createAiSdkRunner } from "../src/ai-sdk/index.ts";
import { createThreadServer, type Tool } from "../src/index.ts";
import { createMemoryThreadStore } from "../src/memory-thread-store.ts";
import { RawClient } from "./support/raw-client.ts";
import { call, finish, scripted, text } from "./support/scripted-model.ts";
import { recordingTool } from "./support/tools.ts";

/** A model that makes these calls in its first step, and says that it is done in the next. */
const calling = (...asked: [tool: string, input: JsonObject][]) => {
  const { model, calls } = scripted(({ prompt }) =>
    prompt.at(-1)?.role === "tool"
      ? [...text("Done."), finish()]
      : [...asked.map(([tool, input], index) => call(`c${index}`, tool, input)), finish("tool-calls")],
  );
  return { model, prompts: calls };
};

/** A tool whose calls end when the test says so, by their `command`. */
const held = (name: string, effects: "read" | "execute") => {
  const ends = new Map<string, Deferred<void>>();
  const tool = recordingTool(name, effects, async ({ command }) => {
    const end = createDeferred<void>();
    ends.set(String(command), end);
    await end.promise;
    return `${command} done`;
  });
  const running = () => [...ends.keys()];
  return { tool, running, end: (command: string) => ends.get(command)?.resolve() };
};

const start = async (
  model: MockLanguageModelV3,
  tools: readonly Tool[],
  store = createMemoryThreadStore(),
) => {
  const server = createThreadServer({ runner: createAiSdkRunner({ model }), tools, store });
  onTestFinished(() => server.close());
  const client = RawClient.connect(server);
  const threadId = await client.createThread();
  const { result } = await client.startTurn(threadId);
  return { server, client, threadId, turnId: result.turnId as string };
};

const outputs = ({ prompt }: any) =>
  prompt.at(-1).content.map(({ output }: any) => output.value ?? output.reason);

describe("the calls of one step", () => {
  it("run side by side where they only read, at most eight, with their results in order", async () => {
    const names = Array.from({ length: 10 }, (_, index) => `r${index}`);
    const { tool, running, end } = held("look", "read");
    const { model, prompts } = calling(
      ...names.map((command): [string, JsonObject] => ["look", { command }]),
    );
    const { client, turnId } = await start(model, [tool]);
    await vi.waitFor(() => expect(running()).toEqual(names.slice(0, 8)));
    end("r3");
    end("r0");
    await vi.waitFor(() => expect(running()).toEqual(names.slice(0, 9)));
    for (const name of names.slice(1, 9).reverse()) end(name);
    await vi.waitFor(() => expect(running()).toEqual(names));
    end("r9");
    expect((await client.turnEnd(turnId)).params.status).toBe("completed");
    expect(outputs(prompts[1])).toEqual(names.map((name) => `${name} done`));
  });

  it("that change something run alone, in their place", async () => {
    const look = held("look", "read");
    const act = held("act", "execute");
    const { model } = calling(
      ["look", { command: "r1" }],
      ["act", { command: "w" }],
      ["look", { command: "r2" }],
    );
    const { client, turnId } = await start(model, [look.tool, act.tool]);
    const { params } = await client.notification("approval.requested");
    await client.answer(params.requestId);
    await vi.waitFor(() => expect(look.running()).toEqual(["r1"]));
    expect(act.running()).toEqual([]);
    look.end("r1");
    await vi.waitFor(() => expect(act.running()).toEqual(["w"]));
    expect(look.running()).toEqual(["r1"]);
    act.end("w");
    await vi.waitFor(() => expect(look.running()).toEqual(["r1", "r2"]));
    look.end("r2");
    expect((await client.turnEnd(turnId)).params.status).toBe("completed");
  });

  it("ask together; each question is answered by itself, in any order, and what runs keeps its order", async () => {
    const act = recordingTool("act", "execute");
    const { model, prompts } = calling(
      ["act", { command: "one" }],
      ["act", { command: "two" }],
      ["act", { command: "three" }],
    );
    const { client, turnId } = await start(model, [act]);
    await vi.waitFor(() => expect(client.all("approval.requested")).toHaveLength(3));
    const asked = client.all("approval.requested");
    const answer = (index: number, decision: string) =>
      client.call("approval.respond", { requestId: asked[index].requestId, decision });
    await answer(2, "once");
    await answer(1, "reject");
    expect(act.runs).toEqual([]);
    await answer(0, "once");
    expect((await client.turnEnd(turnId)).params.status).toBe("completed");
    expect(act.runs).toEqual([{ command: "one" }, { command: "three" }]);
    expect(outputs(prompts[1])).toEqual([{ ok: true }, expect.stringContaining("rejected"), { ok: true }]);
  });

  it("are prepared again behind those that they come after, and asked about again where they would do something else", async () => {
    let content = "a";
    const edit: Tool = {
      ...recordingTool("edit", "write", async ({ command }) => (content = String(command))),
      prepare: async (input) => ({ input: input as JsonObject, preview: `from ${content}` }),
    };
    const { model } = calling(["edit", { command: "b" }], ["edit", { command: "c" }]);
    const { client, turnId } = await start(model, [edit]);
    await vi.waitFor(() => expect(client.all("approval.requested")).toHaveLength(2));
    for (const { requestId } of client.all("approval.requested")) await client.answer(requestId);
    await vi.waitFor(() => expect(client.all("approval.requested")).toHaveLength(3));
    const [, , again] = client.all("approval.requested");
    expect(again).toMatchObject({ metadata: { input: { command: "c" }, preview: "from b" } });
    await client.answer(again.requestId);
    await client.turnEnd(turnId);
    expect(content).toBe("c");
  });
});
