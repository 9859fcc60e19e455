import { type Tool, tool } from "ai";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { converse } from "./support/conversation.ts";
import { says, scriptedModel } from "./support/scripted-model.ts";

const png =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const size = Math.floor((png.length * 3) / 4);
const shown = {
  content: [
    { type: "text", text: "Screenshot" },
    { type: "image", mimeType: "image/png", data: png },
  ],
};

/** A turn in which the model calls the tool, and another one; what the provider was sent. */
const turnsWith = async (
  provider: string,
  shot: Tool,
  options: Partial<Parameters<typeof converse>[0]> = {},
) => {
  const script = scriptedModel(says("", { id: "a", name: "shot" }), says("Seen."), says("Yes."));
  Object.assign(script.model, { provider });
  const chat = converse({ model: script.model, tools: { shot }, ...options });
  await chat.send("look");
  await chat.send("and now?");
  return { chat, prompts: script.prompts(), asked: JSON.stringify(script.prompts()) };
};

const mcpTool = tool({ inputSchema: z.object({}), execute: async () => shown });

describe("images in the result of a tool", () => {
  it("are media parts in their turn for a provider that takes them, and notes later", async () => {
    const { prompts } = await turnsWith("anthropic.messages", mcpTool);
    expect(prompts[1]?.at(-1)?.content).toMatchObject([
      {
        output: {
          type: "content",
          value: [{ text: "Screenshot" }, { mediaType: "image/png", data: png }],
        },
      },
    ]);
    expect(JSON.stringify(prompts[2])).not.toContain(png);
    expect(JSON.stringify(prompts[2])).toContain("[image/png,");
  });

  it("are notes for another provider, never base64 in a text, and stay in the history", async () => {
    const { asked, chat } = await turnsWith("openai-compatible.chat", mcpTool);
    expect(asked).not.toContain(png);
    expect(asked).toContain(`Screenshot\\n[image/png, ${size} bytes: not included]`);
    expect((await chat.history())[2]?.content).toBe(JSON.stringify(shown));
  });

  it("are kept of a tool with toModelOutput, too, and not where they are too large", async () => {
    const own = tool({
      inputSchema: z.object({}),
      execute: async () => "",
      toModelOutput: () => ({
        type: "content",
        value: [{ type: "image-data", mediaType: "image/png", data: png }],
      }),
    });
    const { prompts } = await turnsWith("openai.chat", own);
    expect(prompts[1]?.at(-1)).toMatchObject({
      role: "user",
      content: [{ type: "file", mediaType: "image/png", data: png }],
    });
    const { chat } = await turnsWith("openai.chat", own, { limits: { maxMediaLength: 10 } });
    expect((await chat.history())[2]?.content).toBe(
      JSON.stringify({ content: [{ type: "image", mimeType: "image/png", size }] }),
    );
  });
});
