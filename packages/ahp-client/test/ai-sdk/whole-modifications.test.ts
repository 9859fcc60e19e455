import type { JsonObject, JsonValue } from "@harnesskit/protocol/envelope";
import { type dynamicTool, generateText, tool } from "ai";
import { describe, expect, it, onTestFinished } from "vitest";
import * as z from "zod";
import { superviseModel, superviseTools } from "../../src/ai-sdk/index.ts";
import { SupervisionError } from "../../src/index.ts";
import { startHarness } from "./in-process.ts";
import { rejection, scripted } from "./models.ts";

const callOptions = { toolCallId: "c1", messages: [] };

const lenient = z.object({
  command: z.string(),
  times: z.coerce.number().default(1),
  env: z.object({ PATH: z.string().trim() }).partial().optional(),
});

/** Calls a supervised tool once, whose harness wants this payload instead, and then allows what it is shown. */
const callWith = async (modified: JsonValue, inputSchema: z.ZodType = lenient) => {
  const first = { command: "ls", times: 1 };
  let asked = 0;
  const { client, server } = await startHarness({
    pre_action: () =>
      asked++ === 0 ? { decision: "modify", modified_payload: modified } : { decision: "allow" },
  });
  const runs: unknown[] = [];
  const execute = async (input: unknown) => runs.push(input);
  const { bash } = superviseTools(
    { bash: tool({ inputSchema: inputSchema as never, execute } as never) },
    client,
  );
  let error: unknown;
  try {
    await (bash as ReturnType<typeof dynamicTool>).execute?.(first, callOptions);
  } catch (thrown) {
    error = thrown;
  }
  await client.close();
  await server.close();
  return { runs, error };
};

describe("a change of a tool call is applied whole or not at all", () => {
  it.each<[string, JsonObject, string]>([
    [
      "a field outside of the arguments",
      { command: "pwd", arguments: { command: "ls", times: 1 } },
      "command",
    ],
    ["another tool", { tool_name: "rm", arguments: { command: "ls", times: 1 } }, "tool_name"],
    ["another call", { tool_call_id: "c2", arguments: { command: "pwd", times: 1 } }, "tool_call_id"],
    [
      "a key that the schema drops",
      { arguments: { command: "pwd", times: 1, cwd: "/tmp" } },
      "arguments.cwd",
    ],
    ["a key that the schema adds", { arguments: { command: "pwd" } }, "arguments.times"],
    ["a value that the schema converts", { arguments: { command: "pwd", times: "2" } }, "arguments.times"],
    ["a nested one", { arguments: { command: "pwd", times: 1, env: { PATH: " /b" } } }, "arguments.env.PATH"],
    ["no arguments at all", { tool_name: "bash" }, "arguments"],
  ])("refuses %s, and names it", async (_name, modified, path) => {
    const { runs, error } = await callWith(modified);
    expect(runs).toEqual([]);
    expect(SupervisionError.isInstance(error) && error.code).toBe("invalid_modification");
    expect((error as SupervisionError).reason.split(" ")).toContain(path);
  });

  it("runs one that leaves all else as it is", async () => {
    const whole = {
      action_type: "tool_call",
      tool_name: "bash",
      tool_call_id: "c1",
      target: null,
      arguments: { command: "pwd", times: 2, env: { PATH: "/bin" } },
    };
    expect((await callWith(whole)).runs).toEqual([whole.arguments]);
  });
});

const user = (text: string): JsonObject => ({ role: "user", content: [{ type: "text", text }] });

/** Sends "hi" to a supervised model whose harness wants this payload instead. */
const promptWith = async (modified: JsonValue) => {
  let asked = 0;
  const { client, server } = await startHarness({
    pre_prompt: () =>
      asked++ === 0 ? { decision: "modify", modified_payload: modified } : { decision: "allow" },
  });
  const { model, calls } = scripted({ text: "ok" });
  const supervised = superviseModel(model, client);
  onTestFinished(async () => {
    await client.close();
    await server.close();
  });
  const file = { type: "file" as const, data: new Uint8Array([1]), mediaType: "image/png" };
  const messages = [{ role: "user" as const, content: [{ type: "text" as const, text: "hi" }, file] }];
  return { calls, run: () => generateText({ model: supervised, messages, maxRetries: 0 }) };
};

describe("a change of a prompt is applied whole or not at all", () => {
  const shownFile = { type: "file", file_ref: 0, mediaType: "image/png", size_bytes: 1 };

  it.each<[string, JsonObject, string]>([
    ["another model", { prompt: [user("x")], model: { provider: "other", id: "m" } }, "model.provider"],
    ["a field that there is not", { prompt: [user("x")], system: "be nice" }, "system"],
    ["other tools", { prompt: [user("x")], tools: [] }, "tools"],
    ["a key of a message", { prompt: [{ ...user("x"), priority: 1 }] }, "prompt.0.priority"],
    [
      "a key of a part",
      { prompt: [{ role: "user", content: [{ type: "text", text: "x", lang: "en" }] }] },
      "prompt.0.content.0.lang",
    ],
    [
      "another type of a file",
      { prompt: [{ role: "user", content: [{ ...shownFile, mediaType: "text/html" }] }] },
      "prompt.0.content.0.mediaType",
    ],
    [
      "another content of a file",
      { prompt: [{ role: "user", content: [{ ...shownFile, data: "AAAA" }] }] },
      "prompt.0.content.0.data",
    ],
  ])("refuses %s, and names it", async (_name, modified, path) => {
    const { calls, run } = await promptWith(modified);
    const error = await rejection(run());
    expect([error.code, calls]).toEqual(["invalid_modification", []]);
    expect(error.reason.split(" ")).toContain(path);
  });

  it("sends one that leaves all else as it is, a text for a list of one text and a file by its reference", async () => {
    const { calls, run } = await promptWith({
      prompt: [
        { role: "user", content: "x" },
        { role: "user", content: [{ type: "file", file_ref: 0 }] },
        { role: "user", content: [shownFile] },
      ],
      model: { provider: "mock", id: "mock-1" },
    });
    await run();
    expect(calls[0]?.prompt).toMatchObject([
      user("x"),
      { content: [{ type: "file" }] },
      { content: [{ type: "file" }] },
    ]);
  });
});
