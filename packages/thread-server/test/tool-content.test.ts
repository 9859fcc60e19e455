import type { JsonObject } from "@harnesskit/protocol/envelope";
import { ToolError } from "@harnesskit/wire/tool";
import { describe, expect, it } from "vitest";
import { strictProvider } from "../../../test-kit/strict-provider/strict-provider.ts";
import { createAiSdkRunner } from "../src/ai-sdk/index.ts";
import { createThreadServer } from "../src/index.ts";
import { RawClient } from "./support/raw-client.ts";
import { call, finish, type Part, scripted, text } from "./support/scripted-model.ts";
import { callingRunner, recordingTool } from "./support/tools.ts";

const png =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const size = Buffer.from(png, "base64").length;

/** Runs a turn whose model calls the tool with these arguments, then a second one; gives what the provider was sent. */
const turnWith = async (
  provider: string,
  output: JsonObject | string | ToolError,
  args = "{}",
  toolName = "shot",
) => {
  const calling: Part[] = [
    { type: "tool-input-start", id: "c", toolName },
    { type: "tool-input-delta", id: "c", delta: args },
    { type: "tool-input-end", id: "c" },
    call("c", toolName, args),
    finish("tool-calls"),
  ];
  const said = [...text("Done."), finish()];
  const { model, calls } = scripted((_, index) => (index === 0 ? calling : said), provider);
  const tool = recordingTool("shot", "read", async () => {
    if (output instanceof ToolError) throw output;
    return output;
  });
  const server = createThreadServer({ runner: createAiSdkRunner({ model }), tools: [tool] });
  const client = RawClient.connect(server);
  const threadId = await client.createThread();
  for (const prompt of ["look", "again"]) {
    expect((await client.runTurn(threadId, prompt)).params.status).toBe("completed");
  }
  await server.close();
  const prompts = calls.map(({ prompt }) => prompt);
  return { prompts, client, tool, sent: JSON.stringify(prompts) };
};

const shot = {
  content: [
    { type: "text", text: "Screenshot" },
    { type: "image", mimeType: "image/jpeg", data: png },
    { type: "audio", mimeType: "audio/wav", data: "BwcHBw==" },
    {
      type: "resource",
      resource: { uri: "file:///x.pdf", mimeType: "application/pdf", blob: "JVBERi0xLjQ=" },
    },
  ],
};

describe("images and files in the result of a tool", () => {
  it("are media parts for a provider that takes them, with the type that their bytes have", async () => {
    const { prompts } = await turnWith("anthropic.messages", shot);
    const result = prompts[1]?.at(-1)?.content[0];
    expect(result).toMatchObject({
      type: "tool-result",
      output: {
        type: "content",
        value: [
          { type: "text", text: "Screenshot" },
          { type: "image-data", mediaType: "image/png", data: png },
          {
            type: "text",
            text: expect.stringMatching(/^\[audio\/wav, 4 bytes: not included; kept .*-2\.wav\]$/),
          },
          { type: "file-data", mediaType: "application/pdf", data: "JVBERi0xLjQ=" },
        ],
      },
    });
  });

  it("are shown of a call that failed, too, with its failure", async () => {
    const failure = new ToolError("mcp.tool_failed", "no button", { output: shot });
    const { prompts, client, sent } = await turnWith("anthropic.messages", failure);
    expect(prompts[1]?.at(-1)?.content[0]).toMatchObject({
      output: {
        type: "content",
        value: [
          { type: "text", text: expect.stringMatching(/^\{"status":"failed",.*"no button"\}$/) },
          { type: "text", text: "Screenshot" },
          { type: "image-data", mediaType: "image/png", data: png },
          { type: "text" },
          { type: "file-data" },
        ],
      },
    });
    expect(client.items("artifact")).toHaveLength(3);
    expect(client.items("tool_exec")).toMatchObject([{ status: "failed", code: "mcp.tool_failed" }]);
    expect(sent.split(png.slice(0, 40))).toHaveLength(2);
  });

  it("follow in a message of the user where a provider takes them there", async () => {
    const { prompts } = await turnWith("openai.chat", shot);
    expect(prompts[1]?.at(-1)).toMatchObject({
      role: "user",
      content: [
        { type: "file", mediaType: "image/png" },
        { type: "file", mediaType: "application/pdf" },
      ],
    });
  });

  it("are artifacts and notes otherwise, never base64 in a text; the item names them", async () => {
    const { sent, client, prompts } = await turnWith("openai-compatible.chat", shot);
    expect(sent).not.toContain(png.slice(0, 40));
    expect(prompts[1]?.at(-1)?.content[0]).toMatchObject({
      output: {
        type: "text",
        value: expect.stringContaining(`Screenshot\n[image/jpeg, ${size} bytes: not included; kept`),
      },
    });
    const artifacts = client.items("artifact");
    expect(artifacts).toMatchObject([
      { kind: "tool_media", mimeType: "image/jpeg", sizeBytes: size },
      { mimeType: "audio/wav", sizeBytes: 4 },
      { mimeType: "application/pdf", sizeBytes: 8 },
    ]);
    const [output] = client.items("tool_exec").map((data) => data.output as { content: unknown[] });
    expect(output?.content[1]).toEqual({
      type: "image",
      mimeType: "image/jpeg",
      size,
      artifact: expect.stringMatching(/-1\.jpeg$/),
    });
    expect(JSON.stringify(client.received)).not.toContain(png.slice(0, 40));
  });

  it.each(["text/html", "image/lnk"])(
    "of the type %s are kept under no name that a system would run",
    async (mimeType) => {
      const resource = { uri: "file:///x", mimeType, blob: "BwcHBw==" };
      const { client } = await turnWith("openai-compatible.chat", {
        content: [{ type: "resource", resource }],
      });
      expect(client.items("artifact")).toMatchObject([{ path: expect.stringMatching(/\.bin$/) }]);
    },
  );

  it.each([
    ["anthropic", true],
    ["gemini", true],
    ["openai", false],
  ] as const)("make a request that %s takes, in their turn and later", async (api, isShown) => {
    await using provider = await strictProvider({
      says: (_, index) =>
        index === 0 ? { calls: [{ id: "a", name: "shot", input: {} }] } : { text: "Seen." },
    });
    const runner = createAiSdkRunner({ model: provider.models[api], maxRetries: 0 });
    const server = createThreadServer({ runner, tools: [recordingTool("shot", "read", async () => shot)] });
    const client = RawClient.connect(server);
    const threadId = await client.createThread();
    for (const prompt of ["look", "again"]) {
      expect((await client.runTurn(threadId, prompt)).params.status).toBe("completed");
    }
    await server.close();
    expect(provider.refusals).toEqual([]);
    const holds = provider.requests.map(({ body }) => JSON.stringify(body).includes(png));
    expect(holds).toEqual([false, isShown, false]);
  });
});

describe("a call that cannot be made", () => {
  it("with arguments that are not JSON keeps them as they were written, and says so", async () => {
    const fenced = '```json\n{"a":1}\n```';
    const { prompts, tool, client } = await turnWith("p", "ok", fenced);
    expect(tool.runs).toEqual([]);
    expect(client.items("tool_exec")).toMatchObject([
      {
        status: "failed",
        code: "tool.invalid_input",
        input: { value: fenced },
        error: expect.stringMatching(/not a JSON object/),
      },
    ]);
    for (const prompt of prompts.slice(1)) {
      const calls = prompt.flatMap(({ role, content }) => (role === "assistant" ? content : []));
      expect(calls).toContainEqual(expect.objectContaining({ type: "tool-call", input: { value: fenced } }));
    }
  });
});

describe("numbers beyond 2^53", () => {
  it("in the arguments of a call are refused with the reason, and nobody is asked", async () => {
    const { prompts, tool, client } = await turnWith("p", "ok", '{"id":1917043659912705297}');
    expect(tool.runs).toEqual([]);
    expect(client.items("tool_exec")).toMatchObject([{ status: "failed", code: "tool.invalid_input" }]);
    expect(JSON.stringify(prompts[1]?.at(-1))).toContain("1917043659912705297");
    const exact = await turnWith("p", "ok", '{"wei":1000000000000000000,"text":"1917043659912705297"}');
    expect(exact.tool.runs).toHaveLength(1);
  });
});

it("what a tool logs, does and has so far are items of their own", async () => {
  const tool = recordingTool("shot", "read", async (_input, { log, status, partialResult, stderr }) => {
    void stderr("printed");
    void log?.("a line");
    void status?.("half");
    void status?.("done");
    void partialResult?.({ found: 1 });
    return "ok";
  });
  const server = createThreadServer({ runner: callingRunner({ tool: "shot", input: {} }), tools: [tool] });
  const client = RawClient.connect(server);
  await client.runTurn(await client.createThread(), "go");
  await server.close();
  const shownAs = ({ stream, channel, text }: Record<string, unknown>) => [stream, channel, text];
  expect(client.items("tool_log").map(shownAs)).toEqual([
    ["stderr", undefined, "printed"],
    ["stderr", "log", "a line\n"],
    ["stderr", "status", "half\ndone\n"],
    ["stderr", "partial_result", '{"found":1}\n'],
  ]);
});
