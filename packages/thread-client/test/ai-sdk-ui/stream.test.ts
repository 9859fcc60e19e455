import type { TurnContext } from "@harnesskit/thread-server";
import { readUIMessageStream } from "ai";
import { describe, expect, it } from "vitest";
import type { ThreadSubscription } from "../../src/index.ts";
import { setUp } from "./support/agent.ts";
import { Chat, callsOf, dataOf, readAll, textOf, userMessage, watched } from "./support/chat.ts";

const send = (threadId: string, ...messages: ReturnType<typeof userMessage>[]) => ({
  trigger: "submit-message" as const,
  chatId: threadId,
  messageId: undefined,
  messages,
  abortSignal: undefined,
});

describe("a turn as chunks", () => {
  it("streams reasoning, text, a call with its output and log, and ends", async () => {
    const { transport, threadId } = await setUp();
    const { transport: checked, chunks } = watched(transport);
    const chat = new Chat({ id: threadId, transport: checked });
    await chat.sendMessage({ text: "read it" });
    expect(chat.error).toBeUndefined();
    expect(chat.status).toBe("ready");
    const types = chunks.map(({ type }) => type);
    // The server joins neighbouring deltas.
    expect(types.filter((type, index) => !type.endsWith("-delta") || type !== types[index - 1])).toEqual([
      "start",
      "start-step",
      "reasoning-start",
      "reasoning-delta",
      "reasoning-end",
      "text-start",
      "text-delta",
      "text-end",
      "tool-input-available",
      "data-tool-log",
      "data-tool-log",
      "tool-output-available",
      "finish-step",
      "start-step",
      "text-start",
      "text-delta",
      "text-end",
      "message-metadata",
      "finish-step",
      "finish",
    ]);
    const message = chat.lastMessage;
    expect(message?.parts.map(({ type }) => type)).toEqual([
      "step-start",
      "reasoning",
      "text",
      "dynamic-tool",
      "data-tool-log",
      "step-start",
      "text",
    ]);
    expect(textOf(message)).toBe("Let me look. Done. ");
    expect(callsOf(message)).toMatchObject([
      {
        toolName: "read",
        state: "output-available",
        input: { path: "milk.txt" },
        output: { path: "milk.txt", text: "two litres" },
      },
    ]);
    expect(dataOf(message, "tool-log")).toMatchObject([{ stream: "stdout", text: "opened\n" }]);
    expect(message?.metadata).toMatchObject({
      threadId,
      turnId: message?.id,
      status: "completed",
      usage: { inputTokens: 3, outputTokens: 4 },
    });
  });

  it("says which call failed, and gives artifacts and the plan as data", async () => {
    const { transport, threadId } = await setUp();
    const chat = new Chat({ id: threadId, transport: watched(transport).transport });
    await chat.sendMessage({ text: "plan, read what is missing, make an artifact" });
    expect(callsOf(chat.lastMessage).map(({ toolName, state }) => [toolName, state])).toEqual([
      ["update_plan", "output-available"],
      ["read", "output-available"],
      ["read", "output-error"],
    ]);
    expect(dataOf(chat.lastMessage, "plan")).toEqual([{ steps: ["look", "write"] }]);
    expect(dataOf(chat.lastMessage, "artifact")).toMatchObject([{ kind: "report", path: "report.md" }]);
  });

  it("has a call whose input is no well-formed text, and so has the history", async () => {
    const input = { path: "half of a pair: \ud83d" };
    const runner = {
      run: async (turn: TurnContext) => void (await turn.callTool({ tool: "read", input, callId: "c1" })),
    };
    const { transport, threadId } = await setUp({}, { runner });
    const chat = new Chat({ id: threadId, transport: watched(transport).transport });
    await chat.sendMessage({ text: "read" });
    expect(chat.error).toBeUndefined();
    expect(callsOf(chat.lastMessage)).toMatchObject([{ toolName: "read", state: "output-error", input }]);
    expect(callsOf((await transport.readMessages({ chatId: threadId }))[1])).toMatchObject([{ input }]);
  });

  it("ends with the error of a turn that failed, without its secret", async () => {
    const { transport, threadId } = await setUp();
    const chat = new Chat({ id: threadId, transport: watched(transport).transport });
    await chat.sendMessage({ text: "fail" });
    expect(chat.status).toBe("error");
    expect(chat.error?.message).not.toContain("secret");
    expect(chat.lastMessage?.metadata).toMatchObject({ status: "error", code: expect.any(String) });
    expect(textOf(chat.lastMessage)).toBe("Let me look. ");
  });

  it("cancels the turn when the chat is stopped, and says so", async () => {
    const { transport, agent, client, threadId } = await setUp();
    const chat = new Chat({ id: threadId, transport: watched(transport).transport });
    const sent = chat.sendMessage({ text: "hold" });
    await agent.holding.promise;
    await expect.poll(() => textOf(chat.lastMessage)).toContain("Half of ");
    await chat.stop();
    await sent;
    await expect
      .poll(async () => (await client.getThread(threadId)).events.at(-1)?.type)
      .toBe("turn.completed");
    const [, answer] = await transport.readMessages({ chatId: threadId });
    expect(answer?.metadata).toMatchObject({ status: "cancelled" });
  });

  it("does not cancel the turn of another client when a stream that lags is left", async () => {
    const { transport, agent, connect, threadId } = await setUp();
    const abort = new AbortController();
    const lagging = await transport.sendMessages({
      ...send(threadId, userMessage("m1", "hello")),
      abortSignal: abort.signal,
    });
    const other = await connect();
    const turn = await other.startTurn({ threadId, input: "hold", whenBusy: "queue" });
    await agent.holding.promise;
    abort.abort();
    await lagging.cancel();
    // Behind the request that would have cancelled it.
    await transport.readMessages({ chatId: threadId });
    agent.release();
    expect(await turn.result).toMatchObject({ status: "completed" });
  });

  it("sends an abort chunk when the turn is cancelled elsewhere, and a turn goes on when its stream is left", async () => {
    const { transport, agent, threadId } = await setUp();
    const left = await transport.sendMessages(send(threadId, userMessage("m1", "hold")));
    await agent.holding.promise;
    await left.cancel();
    const resumed = await transport.reconnectToStream({ chatId: threadId });
    await transport.cancel({ chatId: threadId });
    const chunks = await readAll(resumed);
    expect(chunks.at(-1)).toEqual({ type: "abort", reason: "cancelled" });
    expect(chunks.at(-3)).toMatchObject({ messageMetadata: { status: "cancelled" } });
    await expect(transport.cancel({ chatId: threadId })).rejects.toMatchObject({ code: "turn_not_found" });
  });
});

describe("a turn that goes on without its page", () => {
  it("is resumed from its first event, in the middle of an answer", async () => {
    const { transport, agent, threadId, connect } = await setUp();
    void (await transport.sendMessages(send(threadId, userMessage("m1", "read, then hold")))).cancel();
    await agent.holding.promise;
    // A page that was loaded again: another client, and only what the thread has.
    const messages = await transport.readMessages({ chatId: threadId });
    expect(messages).toMatchObject([{ id: "m1", role: "user" }]);
    const chat = new Chat({ id: threadId, messages, transport: watched(transport).transport });
    const resumed = chat.resumeStream();
    await expect.poll(() => textOf(chat.lastMessage)).toBe("Let me look. Half of ");
    // A second resume, as React's strict mode makes one, begins the same message again.
    const again = chat.resumeStream();
    await expect.poll(() => textOf(chat.lastMessage)).toBe("Let me look. Half of ");
    agent.release();
    await Promise.all([resumed, again]);
    expect(chat.messages).toHaveLength(2);
    expect(textOf(chat.lastMessage)).toBe("Let me look. Half of the answer.Done. ");
    expect(chat.status).toBe("ready");
    await (await connect()).close();
  });

  it("leaves no subscription behind when its stream fails", async () => {
    const { transport, client, agent, threadId } = await setUp();
    const subscribe = client.subscribe.bind(client);
    const opened: ThreadSubscription[] = [];
    client.subscribe = async (...given) => {
      const subscription = await subscribe(...given);
      opened.push(subscription);
      return subscription;
    };
    const stream = await transport.sendMessages(send(threadId, userMessage("m1", "hold")));
    await agent.holding.promise;
    const last = opened.at(-1) as ThreadSubscription;
    Object.defineProperty(last, "droppedItems", { value: 1 });
    await expect(readAll(stream)).rejects.toMatchObject({ code: "buffer_full" });
    // It has ended: behind what had come, its iterator has nothing more, although the turn goes on.
    const left: string[] = [];
    for await (const { type } of last) left.push(type);
    expect(left).not.toContain("turn.completed");
  });

  it("is nothing to resume once it has ended", async () => {
    const { transport, threadId } = await setUp();
    expect(await transport.reconnectToStream({ chatId: threadId })).toBeNull();
    await readAll(await transport.sendMessages(send(threadId, userMessage("m1", "hello"))));
    expect(await transport.reconnectToStream({ chatId: threadId })).toBeNull();
  });

  it("has a history that is what was streamed", async () => {
    const { transport, threadId } = await setUp();
    const kept: unknown[] = [];
    for (const [id, text] of [
      ["m1", "plan, read, artifact"],
      ["m2", "read what is missing"],
      ["m3", "fail"],
    ] as const) {
      const stream = await transport.sendMessages(send(threadId, userMessage(id, text)));
      kept.push(userMessage(id, text));
      let last: unknown;
      for await (const message of readUIMessageStream({ stream, onError: () => {} })) last = message;
      kept.push(JSON.parse(JSON.stringify(last)));
    }
    const messages = await transport.readMessages({ chatId: threadId });
    expect(messages).toMatchObject(kept as object[]);
    expect(messages.map(({ parts }) => parts.length)).toEqual(
      (kept as { parts: unknown[] }[]).map(({ parts }) => parts.length),
    );
  });

  it("has a history without the events that are larger than a page of the server", async () => {
    const { transport, agent, threadId } = await setUp({}, { limits: { maxPageBytes: 8192 } });
    await readAll(await transport.sendMessages(send(threadId, userMessage("m1", "hello"))));
    const large = `hold ${"x".repeat(10_000)}`;
    const resumed = await transport.sendMessages(send(threadId, userMessage("m2", large)));
    await agent.holding.promise;
    agent.release();
    expect((await readAll(resumed)).at(-1)).toMatchObject({ type: "finish" });
    await readAll(await transport.sendMessages(send(threadId, userMessage("m3", "hello"))));
    const messages = await transport.readMessages({ chatId: threadId });
    expect(messages.map(textOf)).toEqual([
      "hello",
      "Let me look. Done. ",
      "Let me look. Half of the answer.Done. ",
      "hello",
      "Let me look. Done. ",
    ]);
  });

  it("has as much of a long history as is asked for, whole turns only", async () => {
    const { transport, threadId } = await setUp();
    for (const id of ["m1", "m2", "m3"])
      await readAll(await transport.sendMessages(send(threadId, userMessage(id, "hello"))));
    const all = await transport.readMessages({ chatId: threadId });
    expect(all.map(({ role }) => role)).toEqual([
      "user",
      "assistant",
      "user",
      "assistant",
      "user",
      "assistant",
    ]);
    const some = await transport.readMessages({ chatId: threadId, maxEvents: 20 });
    expect(some[0]?.role).toBe("user");
    expect(some.length).toBeLessThan(6);
    expect(all.slice(-some.length)).toEqual(some);
  });
});

describe("messages that are sent", () => {
  it("start one turn, however often the same message is sent", async () => {
    const { transport, agent, threadId } = await setUp();
    const message = userMessage("m1", "read it");
    const first = await readAll(await transport.sendMessages(send(threadId, message)));
    const again = await readAll(await transport.sendMessages(send(threadId, message)));
    expect(agent.runs).toBe(1);
    expect(again).toEqual(first);
    await readAll(await transport.sendMessages(send(threadId, userMessage("m2", "read it"))));
    // Far behind, it is found as well.
    expect(await readAll(await transport.sendMessages(send(threadId, message)))).toEqual(first);
    await expect(
      transport.sendMessages(send(threadId, userMessage("m1", "something else"))),
    ).rejects.toMatchObject({ code: "request_conflict" });
    expect(agent.runs).toBe(2);
  });

  it("are refused with a code where a turn runs, the thread is unknown, or the message cannot be one", async () => {
    const { transport, agent, threadId } = await setUp();
    void (await transport.sendMessages(send(threadId, userMessage("m1", "hold")))).cancel();
    await agent.holding.promise;
    const refused = async (options: unknown, code: string) =>
      expect(
        transport.sendMessages(options as Parameters<typeof transport.sendMessages>[0]),
      ).rejects.toMatchObject({
        code,
      });
    await refused(send(threadId, userMessage("m2", "hello")), "turn_busy");
    await refused(send("ses_nothing", userMessage("m2", "hello")), "thread_not_found");
    const said = (parts: unknown, role = "user") => ({
      ...send(threadId),
      messages: [{ id: "m2", role, parts }],
    });
    const hello = userMessage("m2", "hello");
    for (const invalid of [
      send(threadId),
      { ...send(threadId), messages: [null] },
      said([]),
      said([{ type: "data-x", data: 1 }]),
      said([{ type: "text", text: "x" }], "system"),
      send(threadId, userMessage("m2", "é".repeat(1.5 * 1024 * 1024))),
      send(threadId, userMessage("x".repeat(101), "hello")),
      { ...send(threadId, hello), trigger: "regenerate-message" },
      { ...send(threadId, hello), messageId: "m2" },
    ]) {
      await refused(invalid, "invalid_argument");
    }
    await refused({ ...send(threadId, hello), abortSignal: AbortSignal.abort() }, "request_cancelled");
  });

  it("choose the thread, the model and the agent by the application's functions", async () => {
    const threads = new Map<string, string>();
    const { transport, client, threadId } = await setUp({
      resolveThread: (chatId) => threads.get(chatId) ?? "ses_nothing",
      turnOptions: ({ body }) => ({ agent: (body as { agent: string }).agent }),
    });
    threads.set("chat-1", threadId);
    const chunks = await readAll(
      await transport.sendMessages({ ...send("chat-1", userMessage("m1", "hi")), body: { agent: "code" } }),
    );
    expect(chunks.at(-1)).toMatchObject({ type: "finish" });
    const { events } = await client.getThread(threadId);
    expect(events.some(({ type }) => type === "turn.completed")).toBe(true);
    await expect(
      transport.sendMessages({ ...send("chat-1", userMessage("m2", "hi")), body: { agent: "none" } }),
    ).rejects.toMatchObject({ code: "invalid_params" });
  });
});
