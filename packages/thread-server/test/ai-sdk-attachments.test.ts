import type { InputPart } from "@harnesskit/protocol/threads";
import { AttachmentError } from "@harnesskit/wire";
import { UnsupportedFunctionalityError } from "ai";
import { MockLanguageModelV3 } from "ai/test";
import { describe, expect, it } from "vitest";
import type { AttachmentOptions } from "../src/ai-sdk/attached-files.ts";
import { createAiSdkRunner } from "../src/ai-sdk/index.ts";
import { createThreadServer } from "../src/index.ts";
import { RawClient } from "./support/raw-client.ts";
import { finish, scripted, text } from "./support/scripted-model.ts";

const png = Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1, 2, 3]);
const pdf = new TextEncoder().encode("%PDF-1.7\n\u0000");
const bytesOf = (text: string) => new TextEncoder().encode(text);

/** A server whose files are these, by path. */
const serve = async (
  files: Record<string, Uint8Array | Error>,
  limits: Omit<AttachmentOptions, "read"> = {},
  failure?: Error,
) => {
  const { model, calls } = scripted(() => {
    if (failure) throw failure;
    return [...text("Seen."), finish()];
  });
  const asked: { path: string | undefined; maxBytes: number; directory: string }[] = [];
  const read: AttachmentOptions["read"] = ({ path }, { maxBytes, directory }) => {
    asked.push({ path, maxBytes, directory });
    const found = files[path ?? ""];
    if (found === undefined) throw new AttachmentError("attachment_not_found", "does not exist");
    if (found instanceof Error) throw found;
    return found;
  };
  const runner = createAiSdkRunner({ model, maxRetries: 0, attachments: { read, ...limits } });
  const client = RawClient.connect(createThreadServer({ runner }));
  const threadId = await client.createThread();
  const send = async (...input: (InputPart | string)[]) => {
    const parts = input.map((part) => (typeof part === "string" ? { type: "text", text: part } : part));
    const { result } = await client.call("turn.start", { threadId, input: parts });
    return client.turnEnd(result.turnId);
  };
  const users = (index: number) =>
    calls[index]?.prompt.flatMap(({ role, content }) => (role === "user" ? [content] : []));
  return { client, calls, asked, send, users };
};

const file = (path: string, mimeType?: string): InputPart => ({
  type: "file",
  path,
  ...(mimeType === undefined ? {} : { mimeType }),
});

describe("files of a turn's input", () => {
  it("reach the model in their order: images and PDFs as files of the type of their bytes, text as text", async () => {
    const { send, users, asked } = await serve({
      "img/a.png": png,
      "b.pdf": pdf,
      "c.md": bytesOf("# Title\n"),
    });
    const end = await send(
      "look",
      file("img/a.png", "image/jpeg"),
      file("b.pdf"),
      file("c.md", "text/markdown; charset=utf-8"),
    );
    expect(end.params).toMatchObject({ status: "completed" });
    expect(users(0)).toMatchObject([
      [
        { type: "text", text: "look" },
        { type: "file", data: png, mediaType: "image/png", filename: "a.png" },
        { type: "file", data: pdf, mediaType: "application/pdf", filename: "b.pdf" },
        { type: "text", text: "[attached file: c.md (text/markdown)]\n# Title\n" },
      ],
    ]);
    expect(new Set(asked.map(({ directory }) => directory)).size).toBe(1);
  });

  it.each([
    [
      "its reader refuses",
      { "a.bin": new AttachmentError("attachment_not_allowed", "is secret") },
      {},
      "attachment_not_allowed",
      "a.bin is secret",
    ],
    [
      "its reader fails on",
      { "a.bin": new TypeError("/root/x") },
      {},
      "attachment_unreadable",
      "a.bin could not be read",
    ],
    [
      "is of another type",
      { "a.bin": Uint8Array.of(0, 255) },
      {},
      "attachment_unsupported",
      "a.bin is of a type that the model is not given (application/octet-stream)",
    ],
  ] as const)(
    "one that %s ends the turn before the model is asked",
    async (_what, files, limits, code, reason) => {
      const { send, calls, client } = await serve(files, limits);
      const end = await send("look", file("a.bin"));
      expect(end).toMatchObject({ method: "turn.error", params: { code } });
      expect(end.params.error).toContain(reason);
      expect(calls).toHaveLength(0);
      expect(JSON.stringify(client.received)).not.toContain("/root/x");
    },
  );

  it("are given again in later turns while they can be read, and named where they cannot", async () => {
    const files: Record<string, Uint8Array> = { "a.png": png };
    const { send, users } = await serve(files);
    await send("look", file("a.png"));
    await send("and now?");
    expect(users(1)?.[0]).toMatchObject([{ text: "look" }, { type: "file", data: png }]);
    delete files["a.png"];
    expect((await send("still?")).params).toMatchObject({ status: "completed" });
    expect(users(2)?.[0]).toMatchObject([
      { text: "look" },
      { text: "[attached file: a.png (not included: it does not exist)]" },
    ]);
  });

  it("of a turn that the model did not answer are not given again", async () => {
    const { send, users } = await serve({ "a.png": png });
    await send(file("none"), file("a.png"));
    await send("go on");
    expect(users(0)?.[0]).toMatchObject([
      { text: "[attached file: none (not included)]" },
      { text: "[attached file: a.png (not included)]" },
      { text: "go on" },
    ]);
  });

  it("that the model does not take are reported as that", async () => {
    const failure = new UnsupportedFunctionalityError({ functionality: "file part image/png" });
    const { send } = await serve({ "a.png": png }, {}, failure);
    expect((await send(file("a.png"))).params).toMatchObject({
      code: "model_input_unsupported",
      error: expect.stringMatching(/^The model does not take what it was given: .*file part image\/png/),
    });
  });

  it("are refused before the turn begins where the agent has no reader", async () => {
    const runner = createAiSdkRunner({ model: new MockLanguageModelV3() });
    const client = RawClient.connect(createThreadServer({ runner }));
    const threadId = await client.createThread();
    const { error } = await client.call("turn.start", { threadId, input: [file("a")] });
    expect(error).toMatchObject({ code: -32602, data: { reason: "attachments_unsupported" } });
    expect(client.all("turn.started")).toEqual([]);
  });
});
