import { createShellEngine } from "@harnesskit/shell-engine";
import { describe, expect, it } from "vitest";
import type { Shelf } from "../src/access.ts";
import { ChatSession } from "../src/chat-session.ts";
import { ConversationStore } from "../src/conversation-store.ts";

const createShelf = (): Shelf => {
  const texts = new Map<string, string>();
  return {
    getItem: (key) => texts.get(key) ?? null,
    setItem: (key, text) => void texts.set(key, text),
    removeItem: (key) => void texts.delete(key),
  };
};

describe("attachments of the page", () => {
  it("go with their message, and are named where the engine does not take them", async () => {
    const asked: unknown[] = [];
    const engine = createShellEngine({
      handlers: {
        intent: ({ attachments, environment, shellCapabilities }) => {
          const declared = shellCapabilities["openharness.attachments.upload"];
          asked.push({ attachments, declared, environment });
          return [];
        },
      },
    });
    const store = new ConversationStore({ shelf: createShelf(), engine: "e", sessionId: "s" });
    const chat = new ChatSession({ engine, sessionId: "s", store });
    await chat.send({ intent: "look", attachments: ["img/a.png", "app:7"] });
    await chat.send({ intent: "again", attachments: ["b.png"] });
    await chat.send({ intent: "and now" });
    expect(asked).toEqual([
      { attachments: [{ ref_id: "img/a.png", filename: "a.png" }, { uri: "app:7" }], declared: true },
      { attachments: [{ ref_id: "b.png", filename: "b.png" }], declared: true },
      { attachments: [] },
    ]);
    const notes = chat.state.value.entries.flatMap((entry) => (entry.kind === "note" ? [entry.text] : []));
    expect(notes).toEqual([
      expect.stringMatching(/attachments\.upload: .*; not taken: img\/a\.png, app:7$/),
      expect.stringMatching(/; not taken: b\.png$/),
    ]);
    await engine.close();
  });
});
