import { AIMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { RunnableLambda } from "@langchain/core/runnables";
import { tool } from "@langchain/core/tools";
import { convertToOpenAITool, isLangChainTool } from "@langchain/core/utils/function_calling";
import { FakeListChatModel, FakeStreamingChatModel } from "@langchain/core/utils/testing";
import { ToolNode } from "@langchain/langgraph/prebuilt";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { SupervisionError } from "../../src/index.ts";
import { superviseModel, superviseTools } from "../../src/langgraph/index.ts";
import { startHarness } from "../ai-sdk/in-process.ts";
import { shell } from "./shell-tool.ts";

const callOf = (args: object, id = "call_1") =>
  new AIMessage({ content: "", tool_calls: [{ name: "shell", args: args as Record<string, unknown>, id }] });

const typesOf = (seen: readonly { readonly type: string }[]) => seen.map(({ type }) => type);

describe("tools of LangChain in a ToolNode", () => {
  it("run with the arguments that were judged, and are reported by the id of their call", async () => {
    const harness = await startHarness();
    const { own, runs } = shell();
    const node = new ToolNode([...superviseTools([own], harness.client)]);
    const { messages } = await node.invoke({ messages: [callOf({ command: "ls" })] });
    await harness.settled();
    expect(messages[0]).toBeInstanceOf(ToolMessage);
    expect(messages[0].content).toBe("ran ls");
    expect(runs).toEqual([{ command: "ls", times: 1 }]);
    expect(harness.seen.map(({ type, payload }) => [type, payload.tool_call_id, payload.outcome])).toEqual([
      ["pre_action", "call_1", undefined],
      ["post_action", "call_1", "success"],
    ]);
    expect(harness.seen[0]?.payload).toMatchObject({
      ...{ action_type: "tool_call", tool_name: "shell" },
      arguments: { command: "ls", times: 1 },
    });
  });

  it("do not run when they are blocked, and the model gets the reason", async () => {
    const harness = await startHarness({
      pre_action: () => ({ decision: "block", reason: "not on a Friday" }),
    });
    const { own, runs } = shell();
    const node = new ToolNode([...superviseTools([own], harness.client)]);
    const { messages } = await node.invoke({ messages: [callOf({ command: "ls" })] });
    expect(messages[0]).toMatchObject({ status: "error" });
    expect(messages[0].content).toContain("Blocked by policy: not on a Friday");
    expect(runs).toEqual([]);
    await expect(superviseTools([own], harness.client)[0].invoke({ command: "ls" })).rejects.toMatchObject({
      ...{ name: "SupervisionError", code: "blocked", toolName: "shell" },
    });
  });

  it("run with what the harness wants instead, if the schema takes it", async () => {
    let wanted: object = { command: "ls -l" };
    const harness = await startHarness({
      pre_action: () => ({ decision: "modify", modified_payload: { arguments: wanted } as never }),
    });
    const { own, runs } = shell();
    const [supervised] = superviseTools([own], harness.client, { limits: { maxModifications: 1 } });
    wanted = { command: 7 };
    await expect(supervised.invoke({ command: "ls" })).rejects.toMatchObject({
      code: "invalid_modification",
    });
    wanted = { command: "ls -l", times: 1 };
    expect(await supervised.invoke({ command: "ls" })).toBe("ran ls -l");
    expect(runs).toEqual([{ command: "ls -l", times: 1 }]);
  });

  describe("that are run by `invoke` alone", () => {
    const schema = z.object({ command: z.string() });
    const toolOf = (runs: unknown[]) =>
      RunnableLambda.from(async (input: { command: string }) => {
        runs.push(input);
        return `ran ${input.command}`;
      }).asTool({ name: "shell", description: "Runs a command", schema });

    it("run with the arguments that were judged", async () => {
      const harness = await startHarness({
        pre_action: ({ payload }) =>
          (payload as { arguments: { command: string } }).arguments.command === "ls"
            ? { decision: "modify", modified_payload: { arguments: { command: "ls -l" } } as never }
            : { decision: "allow" },
      });
      const runs: unknown[] = [];
      const [supervised] = superviseTools([toolOf(runs)], harness.client);
      const { messages } = await new ToolNode([supervised]).invoke({ messages: [callOf({ command: "ls" })] });
      await harness.settled();
      expect(messages[0].content).toBe("ran ls -l");
      expect(runs).toEqual([{ command: "ls -l" }]);
      expect(harness.seen.at(-1)).toMatchObject({
        type: "post_action",
        payload: { outcome: "success", tool_call_id: "call_1", result: "ran ls -l" },
      });
      expect(await supervised.invoke({ command: "pwd" })).toBe("ran pwd");
    });

    it("do not run when they are blocked, whichever way", async () => {
      const harness = await startHarness({ pre_action: () => ({ decision: "block", reason: "no" }) });
      const runs: unknown[] = [];
      const [supervised] = superviseTools([toolOf(runs)], harness.client);
      const own = { name: "own", invoke: async (input: unknown) => runs.push(input) };
      const [plain] = superviseTools([own], harness.client);
      const input = { command: "ls" };
      const call = { name: "shell", args: input, id: "c1", type: "tool_call" } as const;
      for (const way of [
        () => supervised.invoke(input),
        () => supervised.invoke(call as never),
        () => supervised.stream(input),
        () => supervised.batch([input]),
        () => supervised.withConfig({ tags: ["x"] }).invoke(input),
        () => supervised.withRetry({ stopAfterAttempt: 1 }).invoke(input),
        () => supervised.pipe(RunnableLambda.from((given) => given)).invoke(input),
        () => plain.invoke(input),
      ]) {
        await expect(way()).rejects.toMatchObject({ name: "SupervisionError", code: "blocked" });
      }
      expect(runs).toEqual([]);
    });

    it("are shown to a model as before; those of a provider are passed on", async () => {
      const harness = await startHarness();
      const given = toolOf([]);
      const provided = { type: "web_search", name: "web_search" };
      const [supervised, server] = superviseTools([given, provided], harness.client);
      expect(server).toBe(provided);
      expect(isLangChainTool(supervised)).toBe(true);
      expect(convertToOpenAITool(supervised)).toEqual(convertToOpenAITool(given));
    });
  });

  it("stream as before, and are reported when their stream ends", async () => {
    const harness = await startHarness();
    const streaming = tool(
      async function* ({ fails }: { fails: boolean }) {
        yield "half";
        if (fails) throw new RangeError("no disk");
        return "whole";
      },
      { name: "shell", schema: z.object({ fails: z.boolean() }) },
    );
    const [supervised] = superviseTools([streaming], harness.client);
    const events: unknown[] = [];
    const callbacks = [{ handleToolEvent: (chunk: unknown) => void events.push(chunk) }];
    expect(await supervised.invoke({ fails: false }, { callbacks })).toBe("whole");
    await expect(supervised.invoke({ fails: true })).rejects.toThrow(RangeError);
    await harness.settled();
    expect(events).toEqual(["half"]);
    expect(harness.of("post_action")).toMatchObject([
      { outcome: "success", result: "whole" },
      { outcome: "error", error: { message: "no disk" } },
    ]);
  });
});

describe("chat models of LangChain", () => {
  it("are called with the prompt that was judged, and reported", async () => {
    const harness = await startHarness();
    const model = superviseModel(new FakeListChatModel({ responses: ["hello"] }), harness.client);
    const answer = await model.invoke([new HumanMessage("hi")]);
    await harness.settled();
    expect(answer.content).toBe("hello");
    expect(typesOf(harness.seen)).toEqual(["pre_prompt", "post_response"]);
    expect(harness.seen[0]?.payload.prompt).toEqual([{ type: "human", content: "hi" }]);
    expect(harness.seen[1]?.payload).toMatchObject({ outcome: "success", text: "hello", text_length: 5 });
  });

  it("stream as before, and an early end is reported", async () => {
    const harness = await startHarness();
    const model = superviseModel(new FakeListChatModel({ responses: ["hello"] }), harness.client);
    let text = "";
    for await (const chunk of await model.stream("hi")) text += chunk.content;
    expect(text).toBe("hello");
    for await (const _ of await model.stream("hi")) break;
    await harness.settled();
    await expect
      .poll(() => harness.seen.map(({ payload }) => payload.outcome))
      .toEqual([undefined, "success", undefined, "cancelled"]);
  });

  it("are not called when they are blocked, whichever way", async () => {
    const harness = await startHarness({ pre_prompt: () => ({ decision: "block", reason: "a secret" }) });
    const model = superviseModel(new FakeListChatModel({ responses: ["hello"] }), harness.client);
    const bare = superviseModel(
      new FakeStreamingChatModel({ responses: [new AIMessage("x")] }),
      harness.client,
    );
    for (const call of [
      () => model.invoke("hi"),
      async () => {
        for await (const _ of await model.stream("hi"));
      },
      () => bare.invoke("hi"),
    ]) {
      await expect(call()).rejects.toBeInstanceOf(SupervisionError);
    }
    expect(typesOf(harness.seen).filter((type) => type === "post_response")).toEqual([]);
  });

  it.each([
    ["another content", [{ type: "human", content: "[removed]" }], "[removed]"],
    ["fewer messages", [{ type: "human", content: "second" }], "second"],
  ])("take %s", async (_name, prompt, last) => {
    const harness = await startHarness({
      pre_prompt: ({ payload }) =>
        (payload as { prompt: unknown[] }).prompt.length === 2
          ? { decision: "modify", modified_payload: { prompt } as never }
          : { decision: "allow" },
    });
    const seen: unknown[] = [];
    const inner = new FakeListChatModel({ responses: ["hello"] });
    const generate = inner._generate.bind(inner);
    inner._generate = (messages, ...rest) => {
      seen.push(messages.map(({ content }) => content));
      return generate(messages, ...rest);
    };
    const model = superviseModel(inner, harness.client);
    await model.invoke([new HumanMessage("first"), new HumanMessage("second")]);
    expect(seen).toEqual([[last]]);
  });

  it.each([
    ["a message that was not there", [{ type: "system", content: "obey" }]],
    ["another field", [{ type: "human", content: "hi", name: "eve" }]],
    ["no message", ["hi"]],
  ])("refuse %s by name", async (_name, prompt) => {
    const harness = await startHarness({
      pre_prompt: ({ payload }) =>
        JSON.stringify((payload as { prompt: unknown }).prompt) === JSON.stringify(prompt)
          ? { decision: "allow" }
          : { decision: "modify", modified_payload: { prompt } as never },
    });
    const model = superviseModel(new FakeListChatModel({ responses: ["hello"] }), harness.client);
    await expect(model.invoke("hi")).rejects.toMatchObject({
      ...{ code: "invalid_modification", eventType: "pre_prompt" },
    });
  });
});
