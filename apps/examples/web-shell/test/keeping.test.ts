import type { ShellRequest } from "@harnesskit/protocol/openharness";
import { describe, expect, it } from "vitest";
import { type AccessPlaces, openAccess, type Shelf } from "../src/access.ts";
import { ChatSession } from "../src/chat-session.ts";
import { ConversationStore } from "../src/conversation-store.ts";
import type { Entry } from "../src/entries.ts";

const createShelf = (
  maxLength = Number.POSITIVE_INFINITY,
): Shelf & { readonly texts: Map<string, string> } => {
  const texts = new Map<string, string>();
  return {
    texts,
    getItem: (key) => texts.get(key) ?? null,
    setItem: (key, text) => {
      if (text.length > maxLength) throw new DOMException("full", "QuotaExceededError");
      texts.set(key, text);
    },
    removeItem: (key) => void texts.delete(key),
  };
};

const createPlaces = (): AccessPlaces => ({ tab: createShelf(), browser: createShelf() });
const page = "http://127.0.0.1:8080/";

describe("the access", () => {
  it("comes from the fragment, and after a reload from the tab", () => {
    const places = createPlaces();
    const fragment = "#engine=/openharness&token=a+b%2Fc&session=s1";
    const access = { engine: "http://127.0.0.1:8080/openharness", token: "a+b/c", sessionId: "s1" };
    expect(openAccess({ fragment, page }, places)).toEqual(access);
    expect(openAccess({ fragment: "", page }, places)).toEqual(access);
    expect(openAccess({ fragment: "", page }, createPlaces())).toBeUndefined();
    // Another tab, by a link without a session, goes on where this one is.
    const other = { tab: createShelf(), browser: places.browser };
    expect(openAccess({ fragment: "#engine=/openharness", page }, other)).toMatchObject({ sessionId: "s1" });
  });

  it("keeps the token in the tab alone", () => {
    const places = createPlaces();
    openAccess({ fragment: "#engine=/openharness&token=secret-of-the-tab", page }, places);
    const { texts } = places.browser as ReturnType<typeof createShelf>;
    expect([...texts].flat().join()).not.toContain("secret-of-the-tab");
  });

  it.each([
    "#engine=http://engine.example/openharness",
    "#engine=javascript:alert(1)",
    "#engine=https://user:pass@engine.example/",
    "#engine=http://[",
    "#token=abc",
    "#engine=/openharness&token=with%20space",
    "#engine=/openharness&session=",
    `#engine=/openharness&session=${"s".repeat(201)}`,
  ])("takes no token to %s", (fragment) => {
    const places = createPlaces();
    expect(openAccess({ fragment, page }, places)).toBe("invalid");
    expect((places.tab as ReturnType<typeof createShelf>).texts.size).toBe(0);
  });

  it("survives what others left in the tab", () => {
    const places = createPlaces();
    for (const text of ["{", "null", '{"engine":7}', '{"engine":"/x","sessionId":""}']) {
      places.tab.setItem("web-shell/access", text);
      expect(openAccess({ fragment: "", page }, places)).toBeUndefined();
    }
  });
});

const user = (id: string): Entry => ({ kind: "user", id, text: id });

describe("a conversation", () => {
  it("is kept, the newest of it, with where the shell was", () => {
    const shelf = createShelf();
    const store = new ConversationStore({ shelf, engine: "http://e/", sessionId: "s" });
    const session = { sessionId: "s", continuation: { run_id: "r" } };
    const entries = Array.from({ length: 205 }, (_, index) => user(`entry ${index}`));
    store.save({ entries, session });
    const other = new ConversationStore({ shelf, engine: "http://e/", sessionId: "s" });
    expect(other.load()).toEqual({ entries: entries.slice(-200), session });
    store.remove();
    expect(other.load()).toEqual({ entries: [], session: undefined });
  });

  it("is shown where the browser keeps nothing more, and where what it kept is broken", () => {
    const store = new ConversationStore({ shelf: createShelf(10), engine: "http://e/", sessionId: "s" });
    store.save({ entries: [user("a")], session: undefined });
    expect(store.load().entries).toEqual([]);
    const shelf = createShelf();
    const broken = new ConversationStore({ shelf, engine: "http://e/", sessionId: "s" });
    for (const text of ["{", '{"entries":"none"}']) {
      shelf.setItem(broken.key, text);
      expect(broken.load().entries).toEqual([]);
    }
  });
});

it("shows a question once, however often the engine asks it, and answers what was asked last", async () => {
  const shelf = createShelf();
  const store = new ConversationStore({ shelf, engine: "http://e/", sessionId: "s" });
  const tokens: unknown[] = [];
  let asked = 0;
  const engine = async ({ request_id, request }: ShellRequest) => {
    const { continuation, extensions } = request.context ?? {};
    if (extensions !== undefined) tokens.push(continuation?.continuation_token);
    const next = { run_id: "run", continuation_token: `token ${++asked}` };
    const ask = (message: string, own: object) => ({
      action_type: "request_approval",
      payload: { message, continuation: own },
    });
    const asks = [ask("Sure?", next), ask("And this?", { ...next, run_id: `run ${asked}` })];
    const action_directives = extensions === undefined ? asks : [];
    return { protocol_version: "1.0.0", request_id, response: { status: "success", action_directives } };
  };
  const chat = new ChatSession({
    engine: { handle: engine as never },
    sessionId: "s",
    store,
  });
  await chat.send({ intent: "one" });
  await chat.send({ intent: "two" });
  const shown = () =>
    chat.state.value.entries.map((entry) =>
      entry.kind === "approval" ? entry.question.message : entry.kind,
    );
  expect(shown()).toEqual(["user", "And this?", "user", "Sure?", "And this?"]);
  const again = chat.state.value.entries.find(
    (entry) => entry.kind === "approval" && entry.question.message === "Sure?",
  );
  await chat.answer(again?.id ?? "", { decision: "approved" });
  expect(tokens).toEqual(["token 2"]);
  expect(chat.state.value.entries.find(({ id }) => id === again?.id)).toMatchObject({ state: "approved" });
});
