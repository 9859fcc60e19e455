import { AttachmentError } from "@harnesskit/wire";
import { UnsupportedFunctionalityError } from "ai";
import { describe, expect, it } from "vitest";
import type { ShellAttachments } from "../src/attached-message.ts";
import { says } from "./support/scripted-model.ts";
import { codeOf, shown, start } from "./support/started.ts";

const upload = "openharness.attachments.upload";
const png = Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1, 2, 3]);
const pdf = new TextEncoder().encode("%PDF-1.7");

const read: ShellAttachments["read"] = ({ ref_id, uri }) => {
  if (ref_id === "img") return png;
  if (ref_id === "pdf") return pdf;
  if (uri === "app://notes") return new TextEncoder().encode("buy milk");
  if (ref_id === "broken") throw new TypeError("/root/x");
  throw new AttachmentError("attachment_not_allowed", "is not yours");
};

describe("attachments of a request", () => {
  it("reach the model as images and text, in the conversation for good, and the feature is offered", async () => {
    await using chat = await start([says("A picture."), says("Still a picture.")], { attachments: { read } });
    const response = await chat.post(
      {
        user_intent: "look",
        attachments: [
          { ref_id: "img", filename: "a.png" },
          { uri: "app://notes", filename: "n.txt" },
        ],
      },
      { capabilities: { [upload]: true } },
    );
    expect(shown(response)).toEqual(["A picture."]);
    expect(response.supported_capabilities?.[upload]).toBe(true);
    expect(response.capability_denials).toEqual([]);
    const content = [
      { type: "text", text: "look" },
      { type: "file", mediaType: "image/png", data: Buffer.from(png).toString("base64") },
      { type: "text", text: "[attached file: n.txt (text/plain)]\nbuy milk" },
    ];
    expect(chat.script.prompts()[0]).toMatchObject([{ role: "user", content }]);
    await chat.say("and now?");
    expect(chat.script.prompts()[1]?.[0]).toMatchObject({ content });
  });

  it("are enough without an intent", async () => {
    await using chat = await start([says("A picture.")], { attachments: { read } });
    expect(shown(await chat.post({ attachments: [{ ref_id: "img" }] }))).toEqual(["A picture."]);
    expect(chat.script.prompts()[0]).toMatchObject([{ content: [{ type: "file" }] }]);
  });

  it("that do not reach the model are named to the user and to the model, with the reason", async () => {
    await using chat = await start([says("Hm.")], { attachments: { read, maxFiles: 4 } });
    const ids = ["theirs", "broken", "pdf", "img", "img"];
    const response = await chat.post({ user_intent: "look", attachments: ids.map((ref_id) => ({ ref_id })) });
    expect(shown(response)).toEqual([
      "The model was not given: theirs is not yours; broken could not be read; pdf is of a type that the model is " +
        "not given (application/pdf); img is one more than the 4 that are read.",
      "Hm.",
    ]);
    expect(JSON.stringify(chat.script.prompts()[0])).toContain(
      "[attached file: theirs (not included: it is not yours)]",
    );
  });

  it("that are all there is, and cannot be read, ask no model", async () => {
    await using chat = await start([], { attachments: { read } });
    const response = await chat.post({ attachments: [{ ref_id: "no" }, { mime_type: "image/png" }] });
    expect(shown(response)).toEqual([
      "The model was not given: no is not yours; an attachment without a name is not yours.",
    ]);
  });

  it("are named as not read by an engine without a reader, which denies the feature", async () => {
    await using chat = await start([says("Hm.")]);
    const response = await chat.post(
      { user_intent: "look", attachments: [{ ref_id: "img" }] },
      { capabilities: { [upload]: true } },
    );
    expect(shown(response)).toEqual([
      "The model was not given: img cannot be read: this engine takes no attachments.",
      "Hm.",
    ]);
    expect(response.capability_denials).toMatchObject([{ capability: upload }]);
  });

  it("that the model does not take fail the turn, and the conversation goes on without them", async () => {
    const failure = new UnsupportedFunctionalityError({ functionality: "image parts" });
    await using chat = await start([failure, says("Hello.")], { attachments: { read } });
    const failed = await chat.post({ user_intent: "look", attachments: [{ ref_id: "img" }] });
    expect(failed.response.error).toMatchObject({
      details: { category: "provider_unsupported_content_block" },
    });
    expect(codeOf(await chat.say("hello"))).toBe("success");
    expect(JSON.stringify(chat.script.prompts()[1])).not.toContain("image/png");
  });
});
