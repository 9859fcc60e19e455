import { createMemoryStore, StoreError } from "@harnesskit/graph";
import { createDeferred } from "@harnesskit/wire";
import { APICallError, tool } from "ai";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { says } from "./support/scripted-model.ts";
import { codeOf, directivesOf, look, shown, start } from "./support/started.ts";

const card = (title: string, text: string) => `[${title}: ${JSON.stringify({ text })}]`;

describe("what the user says", () => {
  it("is a turn of the conversation, and what the assistant says a message", async () => {
    await using chat = await start([says("Hello Ada."), says("Still here."), says("Who are you?")]);
    const first = await chat.say("hello", { request_id: "r1" });
    expect(first).toMatchObject({ request_id: "r1", response: { status: "success" } });
    expect(directivesOf(first)).toEqual([
      {
        action_type: "render_message",
        risk_tier: "safe",
        payload: { message: "Hello Ada.", text: "Hello Ada.", format: "markdown" },
      },
    ]);
    // Nothing else reports it: the same request gets it again.
    expect(shown(await chat.post({}))).toEqual([]);
    expect(await chat.say("hello", { request_id: "r1" })).toEqual(first);
    expect(shown(await chat.say("are you there?"))).toEqual(["Still here."]);
    const words = chat.script.prompts().map((prompt) => prompt.length);
    expect(words).toEqual([1, 3]);
    // Another thread of the session is another conversation.
    await chat.post({ conversation_id: "t2", user_intent: "hello" });
    expect(chat.script.prompts()[2]?.length).toBe(1);
  });

  it("is answered by a message that is cut where it is too long: a response has each one under two names", async () => {
    const long = says("x").map((part) =>
      part.type === "text-delta" ? { ...part, delta: "x".repeat(900_000) } : part,
    );
    await using chat = await start([long]);
    const response = await chat.say("hello");
    expect(codeOf(response)).toBe("success");
    const [directive] = directivesOf(response);
    expect(directive?.payload?.message).toMatch(/^x{1000,200000}… \[\d+ more characters\]$/);
    expect(directive?.payload?.text).toBe(directive?.payload?.message);
  });

  it("goes to the conversation that `sessionIdOf` names", async () => {
    await using chat = await start([says("Yes.")], {
      sessionIdOf: ({ conversation }) => `mine-${conversation.sessionId}`,
    });
    await chat.say("bonjour");
    expect((await chat.store.sessions.load("mine-s1"))?.state.messages).toHaveLength(2);
  });

  it("may come from a session with a name of any length that is allowed", async () => {
    await using chat = await start([says("Yes."), says("Yes.")]);
    for (const session_id of ["s".repeat(512), `${"s".repeat(511)}t`]) {
      expect(
        shown(await chat.post({ session_id, conversation_id: "c".repeat(512), user_intent: "hi" })),
      ).toEqual(["Yes."]);
    }
    expect(chat.script.prompts().map((prompt) => prompt.length)).toEqual([1, 1]);
  });

  it("is nothing where it is blank: then there is nothing to tell", async () => {
    await using chat = await start([]);
    for (const context of [{}, { user_intent: " \n" }]) {
      const response = await chat.post(context);
      expect([codeOf(response), shown(response)]).toEqual(["success", []]);
    }
  });
});

describe("results of tools", () => {
  const turn = [says("I look.", look("a")), says("Two mails.")];

  it("are cards where the shell has cards, and left out where it has none", async () => {
    await using chat = await start([...turn, ...turn]);
    expect(shown(await chat.say("any mail?"))).toEqual([
      "I look.",
      card("look, 1 line ▸", "inbox: 2 mails"),
      "Two mails.",
    ]);
    expect(shown(await chat.say("any mail?", { capabilities: {} }))).toEqual(["I look.", "Two mails."]);
  });

  it("are what `render` makes of them, with what was called", async () => {
    const seen: unknown[] = [];
    await using chat = await start(turn, {
      render: (result, { conversation }) => {
        seen.push(result, conversation.sessionId);
        return [
          { action_type: "render_ui", payload: { component: "table", data: { rows: [["a", 1]] } } },
          { action_type: "noop" },
        ];
      },
    });
    const types = directivesOf(await chat.say("any mail?")).map(({ action_type }) => action_type);
    expect(types).toEqual(["render_message", "render_ui", "noop", "render_message"]);
    expect(seen).toEqual([
      { tool: "look", input: {}, callId: "a", output: "inbox: 2 mails", failure: undefined },
      "s1",
    ]);
  });

  it("are safe to show, cut, and bounded in number, whatever a tool gives", async () => {
    const flood = tool({
      inputSchema: z.object({}),
      execute: async () => `\u001b[2J\u202e${"x".repeat(90_000)}`,
    });
    const calls = Array.from({ length: 90 }, (_, index) => ({ id: `c${index}`, name: "flood" }));
    await using chat = await start([says("", ...calls), says("", ...calls.slice(0, 30)), says("Done.")], {
      tools: { flood },
    });
    const response = await chat.say("go");
    const cards = shown(response).slice(0, -1);
    expect(shown(response).at(-1)).toBe("Done.");
    expect(cards.length).toBeGreaterThan(10);
    expect(cards.length).toBeLessThan(100);
    for (const text of cards) {
      expect(text).toMatch(
        /^\[flood, 1 line ▸: \{"text":"⟨U\+001B⟩\[2J⟨U\+202E⟩x+… \[\d+ more characters\]"\}\]$/,
      );
    }
  });

  it("say that a tool failed, with the status and the code of the failure", async () => {
    const fail = tool({
      inputSchema: z.object({}),
      execute: async (): Promise<string> => {
        throw new RangeError("no such mailbox");
      },
    });
    await using chat = await start([says("", { id: "a", name: "fail" }), says("It failed.")], {
      tools: { fail },
    });
    const response = await chat.say("go");
    expect(shown(response)).toEqual([card("fail failed", "The tool failed."), "It failed."]);
    expect(directivesOf(response)[0]?.payload).toMatchObject({
      data: { call: { tool: "fail", status: "failed", code: "tool_failed" } },
    });
  });
});

describe("turns that fail", () => {
  it("are errors with the bucket as their code, the user's text, and whether to try again", async () => {
    const refusal = (statusCode: number) =>
      new APICallError({
        message: `status ${statusCode}`,
        url: "http://m",
        requestBodyValues: {},
        statusCode,
      });
    await using chat = await start([refusal(503), refusal(401), says("Back.")]);
    const first = await chat.say("hello", { request_id: "r1" });
    expect(first.response.error).toEqual({
      code: "retryable_transient",
      message: "I had trouble responding. Try again in a moment.",
      retryable: true,
      details: { category: "provider_unavailable" },
    });
    const second = await chat.say("hello", { request_id: "r2" });
    expect(second.response.error).toMatchObject({
      code: "user_correctable",
      retryable: false,
      details: { category: "provider_authentication" },
    });
    // The session is as it was, and the same request may be sent again where that was said.
    expect(shown(await chat.say("hello", { request_id: "r1" }))).toEqual(["Back."]);
    expect(chat.script.prompts()[2]?.length).toBe(1);
    expect(codeOf(await chat.say("hello", { request_id: "r2" }))).toBe("user_correctable");
    expect(chat.script.asked.length).toBe(3);
  });

  it("end the conversation where its store fails", async () => {
    const store = createMemoryStore();
    const sessions = {
      ...store.sessions,
      load: async () => {
        throw new StoreError("store_failed", "the disk of /secret/place failed");
      },
    };
    await using chat = await start([says("Never.")], { store: { ...store, sessions } });
    const { error } = (await chat.say("hello")).response;
    expect(error).toEqual({
      code: "session_terminating",
      message: "This conversation can't continue. Please start a new one.",
      retryable: false,
      details: { category: "session_load_failed" },
    });
  });

  it("say so where the harness takes no more, or takes too long", async () => {
    const asked = createDeferred<void>();
    const hangs = ({ abortSignal }: { abortSignal?: AbortSignal | undefined }) => {
      asked.resolve();
      return new Promise<never>((_, reject) => {
        abortSignal?.addEventListener("abort", () => reject(new Error("aborted")));
      });
    };
    await using chat = await start([hangs], { turnTimeoutMs: 30 });
    expect((await chat.say("hello")).response.error).toMatchObject({
      code: "engine_timeout",
      retryable: false,
    });
    await asked.promise;
    await chat.harness.close();
    expect((await chat.say("hello")).response.error).toMatchObject({ code: "cancelled", retryable: true });
  });
});
