import type { ShellRequest } from "@harnesskit/protocol/openharness";
import { describe, expect, it } from "vitest";
import { type AccessPlaces, openAccess, type Shelf } from "../src/access.ts";
import { ChatSession } from "../src/chat-session.ts";
import { ConversationStore } from "../src/conversation-store.ts";
import { type Entry, mergeEntries } from "../src/entries.ts";
import { UnansweredRequest } from "../src/unanswered-request.ts";

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

const user = (id: string, atMs: number, text = id): Entry => ({ kind: "user", id, atMs, text });
const approval = (state: "open" | "approved" | "elsewhere"): Entry => ({
  kind: "approval",
  id: "a",
  atMs: 2,
  state,
  question: { title: undefined, message: "?", risk: "safe", subject: undefined },
  pending: undefined,
  reason: undefined,
});

describe("a conversation", () => {
  it("is put together from two tabs, where an answer is not taken back", () => {
    const ours = [user("x", 1), approval("open"), user("z", 4)];
    const theirs = [approval("approved"), user("y", 3)];
    const ids = ["x", "a", "y", "z"];
    for (const merged of [mergeEntries(ours, theirs), mergeEntries(theirs, ours)]) {
      expect(merged.map(({ id }) => id)).toEqual(ids);
      expect(merged[1]).toMatchObject({ state: "approved" });
    }
    expect(mergeEntries([approval("elsewhere")], [approval("approved")])[0]).toMatchObject({
      state: "elsewhere",
    });
  });

  it("is kept, within bounds, the newest first", () => {
    const shelf = createShelf();
    const options = { shelf, engine: "http://e/", sessionId: "s", maxEntries: 3, maxLength: 500 };
    const store = new ConversationStore(options);
    const session = { sessionId: "s", continuation: { run_id: "r" } };
    store.save({ entries: [user("a", 1), user("b", 2), user("c", 3), user("d", 4)], session });
    expect(store.load().entries.map(({ id }) => id)).toEqual(["b", "c", "d"]);
    expect(store.load().session).toEqual(session);
    const shown = store.save({ entries: [user("e", 5, "x".repeat(600)), user("f", 6)], session });
    expect(shown.map(({ id }) => id)).toEqual(["d", "e", "f"]);
    expect(store.load().entries.map(({ id }) => id)).toEqual(["d", "f"]);
    store.remove();
    expect(store.load()).toEqual({ entries: [], session: undefined });
  });

  it("reads again what another tab has kept, and writes each entry as JSON once", () => {
    const shelf = createShelf();
    const stores = [1, 2].map(() => new ConversationStore({ shelf, engine: "http://e/", sessionId: "s" }));
    const [ours, theirs] = stores as [ConversationStore, ConversationStore];
    let written = 0;
    const toJSON = () => {
      written++;
      return user("a", 1);
    };
    const counted = Object.assign(user("a", 1), { toJSON });
    ours.save({ entries: [counted], session: undefined });
    theirs.save({ entries: [user("b", 2)], session: { sessionId: "s" } });
    const shown = ours.save({ entries: [counted, user("c", 3)], session: undefined });
    expect(shown.map(({ id }) => id)).toEqual(["a", "b", "c"]);
    expect(theirs.load().entries.map(({ id }) => id)).toEqual(["a", "b", "c"]);
    expect(written).toBe(1);
  });

  it("is shown where the browser keeps nothing more", () => {
    const store = new ConversationStore({ shelf: createShelf(10), engine: "http://e/", sessionId: "s" });
    expect(store.save({ entries: [user("a", 1)], session: undefined })).toEqual([user("a", 1)]);
    expect(store.load().entries).toEqual([]);
  });

  it("takes nothing that is broken", () => {
    const shelf = createShelf();
    const store = new ConversationStore({ shelf, engine: "http://e/", sessionId: "s" });
    const broken = [null, 7, { kind: "user", id: "a", atMs: 1 }, { kind: "constructor", id: "b", atMs: 1 }];
    for (const text of ["{", "7", JSON.stringify({ entries: "none", session: [] })]) {
      shelf.setItem(store.key, text);
      expect(store.load()).toEqual({ entries: [], session: undefined });
    }
    for (const session of [
      { sessionId: "another" },
      { sessionId: "s", conversationId: 7 },
      { sessionId: "s", continuation: 7 },
    ]) {
      shelf.setItem(store.key, JSON.stringify({ entries: [], session }));
      expect(store.load().session).toBeUndefined();
    }
    shelf.setItem(store.key, JSON.stringify({ entries: [...broken, user("ok", 2)] }));
    expect(store.load().entries).toEqual([user("ok", 2)]);
  });
});

it("offers once what was under way when the tab was left", () => {
  const shelf = createShelf();
  const unanswered = new UnansweredRequest(shelf, "c");
  const sending = { intent: "do it", taskHint: { sop_id: "s" }, requestId: "req_1" };
  unanswered.put(sending);
  expect(new UnansweredRequest(shelf, "c").take()).toEqual(sending);
  expect(unanswered.take()).toBeUndefined();
  shelf.setItem("c/unanswered", '{"intent":7}');
  expect(unanswered.take()).toBeUndefined();
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
    tab: createShelf(),
    onChange: () => {},
  });
  await chat.send({ intent: "one" });
  await chat.send({ intent: "two" });
  const shown = () =>
    chat.state.entries.map((entry) => (entry.kind === "approval" ? entry.question.message : entry.kind));
  expect(shown()).toEqual(["user", "And this?", "user", "Sure?", "And this?"]);
  const again = chat.state.entries.find(
    (entry) => entry.kind === "approval" && entry.question.message === "Sure?",
  );
  await chat.answer(again?.id ?? "", { decision: "approved" });
  expect(tokens).toEqual(["token 2"]);
  expect(chat.state.entries.find(({ id }) => id === again?.id)).toMatchObject({ state: "approved" });
});
