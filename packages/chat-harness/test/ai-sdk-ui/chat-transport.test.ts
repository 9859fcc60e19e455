import { createChatHarness, messagesField } from "@harnesskit/chat-harness";
import { createChatGraph } from "@harnesskit/chat-harness/ai-sdk";
import {
  createChatFeed,
  createHarnessChatTransport,
  type HarnessChatTransport,
  type HarnessChatTransportOptions,
} from "@harnesskit/chat-harness/ai-sdk-ui";
import {
  createMemoryStore,
  defineGraph,
  defineState,
  END,
  type GraphStore,
  lastWriteWins,
} from "@harnesskit/graph";
import { createDeferred, HarnessError } from "@harnesskit/wire";
import {
  AbstractChat,
  type ChatInit,
  type ChatState,
  type ChatStatus,
  type ChatTransport,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  tool,
  uiMessageChunkSchema,
  validateUIMessages,
} from "ai";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { failureText } from "../../src/ai-sdk/failure-text.ts";
import {
  type HarnessUIMessage,
  type HarnessUIMessageChunk,
  questionTool,
} from "../../src/ai-sdk-ui/message-types.ts";
import { TurnChunks } from "../../src/ai-sdk-ui/turn-chunks.ts";
import { type Answer, says, scriptedModel } from "../ai-sdk/support/scripted-model.ts";

class State implements ChatState<HarnessUIMessage> {
  status: ChatStatus = "ready";
  error: Error | undefined = undefined;

  constructor(public messages: HarnessUIMessage[]) {}

  pushMessage = (message: HarnessUIMessage) => {
    this.messages = [...this.messages, message];
  };
  popMessage = () => {
    this.messages = this.messages.slice(0, -1);
  };
  replaceMessage = (index: number, message: HarnessUIMessage) => {
    this.messages = this.messages.with(index, structuredClone(message));
  };
  snapshot = <T>(value: T): T => structuredClone(value);
}

class Chat extends AbstractChat<HarnessUIMessage> {
  constructor({ messages = [], ...init }: ChatInit<HarnessUIMessage>) {
    super({ ...init, state: new State(messages) });
  }
}

/** The transport, with each chunk checked by the AI SDK's own schema. */
const checked = (transport: HarnessChatTransport): ChatTransport<HarnessUIMessage> => {
  const check = (stream: ReadableStream<HarnessUIMessageChunk>) =>
    stream.pipeThrough(
      new TransformStream<HarnessUIMessageChunk, HarnessUIMessageChunk>({
        async transform(chunk, controller) {
          expect(await uiMessageChunkSchema().validate?.(chunk), JSON.stringify(chunk)).toMatchObject({
            success: true,
          });
          controller.enqueue(structuredClone(chunk));
        },
      }),
    );
  return {
    resumeStreamIsReplay: true,
    sendMessages: async (options) => check(await transport.sendMessages(options)),
    reconnectToStream: async (options) => {
      const stream = await transport.reconnectToStream(options);
      return stream && check(stream);
    },
  };
};

const open = (transport: HarnessChatTransport, messages: HarnessUIMessage[] = []) =>
  new Chat({
    id: "s1",
    messages,
    transport: checked(transport),
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
  });

const ran: unknown[] = [];
const write = tool({
  inputSchema: z.object({ path: z.string() }),
  needsApproval: true,
  execute: async ({ path }) => {
    ran.push(path);
    return { wrote: path };
  },
});
const read = tool({
  inputSchema: z.object({ path: z.string() }),
  execute: async ({ path }) => {
    if (path === "missing") throw new TypeError("no such note");
    return `content of ${path}`;
  },
});

interface Options extends Partial<HarnessChatTransportOptions> {
  readonly store?: GraphStore;
}

/** A chat over a scripted model, with its events in the transport. */
const setUp = (answers: readonly Answer[], { store = createMemoryStore(), ...options }: Options = {}) => {
  const feed = createChatFeed();
  const { model, asked } = scriptedModel(...answers);
  const graph = createChatGraph({ model, tools: { read, write }, onEvent: feed.onEvent, maxRetries: 0 });
  const errors: unknown[] = [];
  const harness = createChatHarness({ graph, store, onError: (...reported) => errors.push(reported) });
  return {
    harness,
    store,
    asked,
    errors,
    transport: createHarnessChatTransport({ harness, feed, ...options }),
  };
};

const textOf = (message: HarnessUIMessage | undefined) =>
  (message?.parts ?? []).map((part) => (part.type === "text" ? part.text : "")).join("|");
const callsOf = (message: HarnessUIMessage | undefined) =>
  (message?.parts ?? []).filter((part) => part.type === "dynamic-tool");

describe("a turn of a chat harness in useChat", () => {
  it("streams texts and calls, and the history says the same", async () => {
    const { transport, errors } = setUp([
      says(
        "I look. ",
        { id: "c1", name: "read", input: { path: "milk" } },
        { id: "c2", name: "read", input: { path: "missing" } },
      ),
      says("There is milk."),
    ]);
    const chat = open(transport);
    await chat.sendMessage({ text: "what is there?" });
    expect(chat.error).toBeUndefined();
    expect(textOf(chat.lastMessage)).toBe("|I look. ||||There is milk.");
    expect(callsOf(chat.lastMessage)).toMatchObject([
      { toolName: "read", state: "output-available", output: "content of milk" },
      { toolName: "read", state: "output-error", errorText: "The tool failed." },
    ]);
    // What it threw is for the operator alone.
    expect(errors).toEqual([
      [
        expect.objectContaining({ message: "no such note" }),
        expect.objectContaining({ kind: "tool_failed" }),
      ],
    ]);
    expect(chat.lastMessage?.metadata).toEqual({ status: "completed" });
    const messages = await transport.readMessages({ chatId: "s1" });
    expect(messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
    expect(textOf(messages[1])).toBe(textOf(chat.lastMessage));
    await validateUIMessages({ messages });
  });

  it("streams a call whose input is no well-formed text", async () => {
    const input = { path: "half of a pair: \ud83d" };
    const { transport } = setUp([says("", { id: "c1", name: "read", input }), says("Done.")]);
    const chat = open(transport);
    await chat.sendMessage({ text: "what is there?" });
    expect(callsOf(chat.lastMessage)).toMatchObject([{ toolName: "read", state: "output-available", input }]);
  });

  it("shows each call where a model repeats their ids, also from the history", async () => {
    const again = (path: string) => says("", { id: "c1", name: "read", input: { path } });
    const { transport } = setUp([again("milk"), again("milk"), again("bread"), says("Done.")]);
    const chat = open(transport);
    await chat.sendMessage({ text: "what is there?" });
    const outputs = ["content of milk", "content of milk", "content of bread"];
    const [, kept] = await transport.readMessages({ chatId: "s1" });
    for (const message of [chat.lastMessage, kept])
      expect(callsOf(message)).toMatchObject(outputs.map((output) => ({ output })));
  });

  it.each([true, false])("has a text as often as it was said, with a feed: %s", async (withFeed) => {
    const { harness, transport } = setUp([
      says("I look. ", { id: "c1", name: "read", input: { path: "milk" } }),
      says("I look. ", { id: "c2", name: "read", input: { path: "bread" } }),
      says("Done."),
    ]);
    const chat = open(withFeed ? transport : createHarnessChatTransport({ harness }));
    await chat.sendMessage({ text: "what is there?" });
    const [, kept] = await transport.readMessages({ chatId: "s1" });
    for (const message of [chat.lastMessage, kept])
      expect(textOf(message).match(/I look|Done/g)).toEqual(["I look", "I look", "Done"]);
  });

  it.each([
    ["step", [{ id: "c1" }, { id: "c2" }], []],
    ["turn", [{ id: "c1" }], [says("", { id: "c2", name: "write", input: { path: "c2" } })]],
  ])(
    "does not ask again about a refused call when another one of its %s was answered",
    async (_of, calls, next) => {
      const writes = calls.map(({ id }) => ({ id, name: "write", input: { path: id } }));
      const { transport } = setUp([says("", ...writes), ...next, says("Done.")]);
      const chat = new Chat({ id: "s1", messages: [], transport: checked(transport) });
      await chat.sendMessage({ text: "write" });
      for (const [index, approved] of [false, true].entries()) {
        const { approval } = callsOf(chat.lastMessage)[index] ?? {};
        await chat.addToolApprovalResponse({ id: approval?.id ?? "", approved });
        await chat.sendMessage();
      }
      expect(textOf(chat.lastMessage)).toContain("Done.");
      const states = callsOf(chat.lastMessage).map(({ state }) => state);
      expect(states).toEqual(["output-denied", "output-available"]);
    },
  );

  it("comes whole without a feed, and with the application's data parts", async () => {
    const { harness } = setUp([says("Hello.")]);
    const transport = createHarnessChatTransport({
      harness,
      dataParts: () => [{ type: "data-artifact", id: "a1", data: { path: "report.md" } }],
    });
    const chat = open(transport);
    await chat.sendMessage({ text: "hi" });
    expect(textOf(chat.lastMessage)).toBe("|Hello.|");
    expect(chat.lastMessage?.parts.at(-1)).toMatchObject({
      type: "data-artifact",
      data: { path: "report.md" },
    });
  });

  it("asks before a call, and does it once when it is approved, also from a page that is loaded again", async () => {
    ran.length = 0;
    const store = createMemoryStore();
    const first = setUp([says("I write. ", { id: "c1", name: "write", input: { path: "a" } })], { store });
    const chat = open(first.transport);
    await chat.sendMessage({ text: "write a" });
    expect(chat.lastMessage?.metadata).toEqual({ status: "suspended" });
    expect(callsOf(chat.lastMessage)).toMatchObject([
      { toolCallId: "c1", toolName: "write", state: "approval-requested", input: { path: "a" } },
    ]);
    // Another process, over what the first one stored.
    const { transport } = setUp([says("Written.")], { store });
    const messages = await transport.readMessages({ chatId: "s1" });
    expect(messages.at(-1)?.parts).toContainEqual(
      expect.objectContaining({ type: "data-approval", data: expect.objectContaining({ tool: "write" }) }),
    );
    await validateUIMessages({ messages });
    const again = open(transport, messages);
    await again.resumeStream();
    const [call] = callsOf(again.lastMessage);
    await again.addToolApprovalResponse({ id: call?.approval?.id ?? "", approved: true });
    await expect.poll(() => textOf(again.lastMessage)).toContain("Written.");
    expect(callsOf(again.lastMessage)).toMatchObject([{ state: "output-available", output: { wrote: "a" } }]);
    expect(again.messages).toHaveLength(2);
    expect(ran).toEqual(["a"]);
    const sent = {
      trigger: "submit-message" as const,
      chatId: "s1",
      messageId: undefined,
      abortSignal: undefined,
      messages: [answered(chat.lastMessage)],
    };
    await expect(transport.sendMessages(sent)).rejects.toMatchObject({ code: "approval_not_found" });
    await expect(transport.sendMessages({ ...sent, chatId: "s2" })).rejects.toMatchObject({
      code: "approval_not_found",
    });
    expect(ran).toEqual(["a"]);
  });

  it("asks for the calls of a step together, and takes the answers in any order, also on a page that is loaded again", async () => {
    for (const reload of [false, true]) {
      ran.length = 0;
      const { transport } = setUp([
        says(
          "",
          { id: "c1", name: "write", input: { path: "a" } },
          { id: "c2", name: "write", input: { path: "b" } },
          { id: "c3", name: "read", input: { path: "c" } },
        ),
        says("Both."),
      ]);
      let chat = open(transport);
      await chat.sendMessage({ text: "write a and b" });
      if (reload) chat = open(transport, await transport.readMessages({ chatId: "s1" }));
      const calls = callsOf(chat.lastMessage);
      expect(calls.map(({ toolCallId, state }) => [toolCallId, state])).toEqual([
        ["c1", "approval-requested"],
        ["c2", "approval-requested"],
      ]);
      for (const { approval } of calls.reverse()) {
        expect(ran).toEqual([]);
        await chat.addToolApprovalResponse({ id: approval?.id ?? "", approved: true });
      }
      await expect.poll(() => [chat.status, ran.length]).toEqual(["ready", 2]);
      expect(textOf(chat.lastMessage)).toContain("Both.");
      expect(callsOf(chat.lastMessage).map(({ state }) => state)).toEqual(Array(3).fill("output-available"));
      expect(ran).toEqual(["a", "b"]);
    }
  });

  it("refuses a message while a call waits for its approval, and the history stays as it was", async () => {
    const { transport, asked } = setUp([
      says("", { id: "c1", name: "write", input: { path: "a" } }),
      says("Written."),
    ]);
    const chat = open(transport);
    await chat.sendMessage({ text: "write a" });
    const before = await transport.readMessages({ chatId: "s1" });
    await chat.sendMessage({ text: "something else" });
    expect(chat.error).toMatchObject({ code: "turn_busy" });
    expect(asked).toHaveLength(1);
    expect(await transport.readMessages({ chatId: "s1" })).toEqual(before);
    const answer = () => chat.messages.findLast(({ role }) => role === "assistant");
    await chat.addToolApprovalResponse({ id: callsOf(answer())[0]?.approval?.id ?? "", approved: true });
    // useChat sends by itself only what the last message answers.
    await chat.sendMessage();
    expect(textOf(answer())).toContain("Written.");
  });

  it("does not do what is refused, and not what was not shown", async () => {
    ran.length = 0;
    const { transport } = setUp([
      says("", { id: "c1", name: "write", input: { path: "a" } }),
      says("Then not."),
    ]);
    const chat = open(transport);
    await chat.sendMessage({ text: "write a" });
    const forged = answered(chat.lastMessage, { input: { path: "b" } });
    const sent = {
      trigger: "submit-message" as const,
      chatId: "s1",
      messageId: undefined,
      abortSignal: undefined,
    };
    await expect(transport.sendMessages({ ...sent, messages: [forged] })).rejects.toMatchObject({
      code: "approval_digest_mismatch",
    });
    await chat.addToolApprovalResponse({
      id: callsOf(chat.lastMessage)[0]?.approval?.id ?? "",
      approved: false,
      reason: "no",
    });
    await expect.poll(() => textOf(chat.lastMessage)).toContain("Then not.");
    expect(callsOf(chat.lastMessage)).toMatchObject([{ state: "output-denied" }]);
    expect(ran).toEqual([]);
    const messages = await transport.readMessages({ chatId: "s1" });
    expect(callsOf(messages[1])).toMatchObject([{ state: "output-denied" }]);
    await validateUIMessages({ messages });
  });

  it("has what was refused as asked and denied for a reader of the whole message", () => {
    const refusal = failureText({ status: "rejected", code: "rejected", message: "No." });
    const chunks = new TurnChunks("m").say(
      [
        { role: "assistant", tool_calls: [{ id: "c1", name: "write", arguments: {} }] },
        { role: "tool", tool_call_id: "c1", content: refusal },
      ],
      [],
    );
    expect(chunks.past().map(({ type }) => type)).toEqual([
      "start-step",
      "tool-input-available",
      "tool-approval-request",
      "tool-output-denied",
      "finish-step",
    ]);
  });

  it("is resumed from its beginning in the middle of an answer, cancelled when you say so, and refuses another send", async () => {
    const held = createDeferred<never>();
    const { transport } = setUp([
      says("First. "),
      (call) => {
        call.abortSignal?.addEventListener("abort", () => held.reject(call.abortSignal?.reason));
        return held.promise;
      },
    ]);
    const chat = open(transport);
    await chat.sendMessage({ text: "one" });
    const sent = chat.sendMessage({ text: "two" });
    await expect.poll(async () => (await transport.readMessages({ chatId: "s1" })).length).toBe(3);
    const messages = await transport.readMessages({ chatId: "s1" });
    expect(messages.map(textOf)).toEqual(["one", "|First. ", "two"]);
    const again = open(transport, messages);
    const resumed = again.resumeStream();
    const other = new Chat({ id: "s1", transport });
    await other.sendMessage({ text: "three" });
    expect(other.error).toMatchObject({ code: "turn_busy" });
    await expect.poll(() => again.messages.length).toBe(4);
    await transport.cancel({ chatId: "s1" });
    await Promise.all([sent, resumed]);
    expect(chat.lastMessage?.metadata).toEqual({ status: "cancelled" });
    expect(again.lastMessage?.metadata).toEqual({ status: "cancelled" });
    expect(await transport.reconnectToStream({ chatId: "s1" })).toBeNull();
    await expect(transport.cancel({ chatId: "s1" })).rejects.toMatchObject({ code: "turn_not_found" });
  });

  it("ends with the harness's own reply when it fails, and one message runs one turn", async () => {
    const { transport, asked } = setUp([new TypeError("a secret")]);
    const chat = open(transport);
    await chat.sendMessage({ text: "hi" });
    expect(chat.status).toBe("error");
    expect(chat.error?.message).not.toContain("secret");
    expect(chat.lastMessage?.metadata).toMatchObject({ status: "error" });
    const [message] = chat.messages;
    const again = await transport.sendMessages({
      trigger: "submit-message",
      chatId: "s1",
      messageId: undefined,
      messages: message ? [message] : [],
      abortSignal: undefined,
    });
    await again.cancel();
    expect(asked).toHaveLength(1);
  });

  it("says a fixed sentence where the harness or its store fails, and reports the error", async () => {
    const errors: unknown[] = [];
    const failing = async (error: Error) => {
      const { harness } = setUp([]);
      const transport = createHarnessChatTransport({
        harness: {
          graph: harness.graph,
          pending: (id) => harness.pending(id),
          acknowledge: (id) => harness.acknowledge(id),
          recover: (options) => harness.recover(options),
          signal: (answer, options) => harness.signal(answer, options),
          send: () => Promise.reject(error),
        },
        onError: (failed) => errors.push(failed),
      });
      const chat = open(transport);
      await chat.sendMessage({ text: "hi" });
      return [chat.error?.message, chat.lastMessage?.metadata?.error];
    };
    const secret = new HarnessError("transport_failed", "connect ECONNREFUSED /run/secret/agent.sock");
    const text = "The turn could not be run.";
    expect(await failing(secret)).toEqual([text, text]);
    expect(await failing(new TypeError("postgres://app:secret@10.0.0.5"))).toEqual([text, text]);
    expect(errors).toMatchObject([{ code: "transport_failed" }, { name: "TypeError" }]);
    const busy = new HarnessError("session_busy", "Another turn of the session runs.");
    expect(await failing(busy)).toEqual([busy.message, busy.message]);
    expect(errors).toHaveLength(2);
  });

  it("asks another question as a call that the page gives the output of", async () => {
    const state = defineState({
      messages: messagesField(),
      city: lastWriteWins(z.string(), { default: "" }),
    });
    const say = (content: string) => ({ messages: [{ role: "assistant" as const, content }] });
    const graph = defineGraph(state)
      .node("ask", (_, { suspend }) =>
        suspend({ signal_id: "city-1", metadata: { question: "Which city?" } }),
      )
      .node("act", ({ city }) => say(`To ${city}.`))
      .entry("ask")
      .edge("ask", "act")
      .edge("act", END);
    const harness = createChatHarness({ graph });
    const refusing = createHarnessChatTransport({ harness });
    const transport = createHarnessChatTransport({
      harness,
      toPayload: ({ output }) => ({ city: z.string().max(50).parse(output) }),
    });
    const chat = open(transport);
    await chat.sendMessage({ text: "travel" });
    const [question] = callsOf(chat.lastMessage);
    expect(question).toMatchObject({
      toolName: questionTool,
      state: "input-available",
      input: { question: "Which city?" },
    });
    expect(await transport.readMessages({ chatId: "s1" })).toMatchObject([
      { role: "user" },
      { metadata: { status: "suspended" } },
    ]);
    await chat.addToolOutput({
      tool: questionTool as never,
      toolCallId: "city-1",
      output: "Vienna" as never,
    });
    const sent = {
      trigger: "submit-message" as const,
      chatId: "s1",
      messageId: undefined,
      abortSignal: undefined,
      messages: chat.messages,
    };
    await expect(refusing.sendMessages(sent)).rejects.toMatchObject({ code: "unsupported" });
    await chat.sendMessage();
    expect(textOf(chat.lastMessage)).toContain("To Vienna.");
  });

  it("refuses what cannot be said", async () => {
    const { transport, asked } = setUp([]);
    const refused = async (message: unknown, code = "invalid_argument", more: object = {}) =>
      expect(
        transport.sendMessages({
          trigger: "submit-message",
          chatId: "s1",
          messageId: undefined,
          messages: [message as HarnessUIMessage],
          abortSignal: undefined,
          ...more,
        }),
      ).rejects.toMatchObject({ code });
    const user = { id: "m1", role: "user", parts: [{ type: "text", text: "hi" }] };
    await refused(undefined);
    await refused({ ...user, id: "" });
    await refused({ ...user, parts: [] });
    await refused({ ...user, parts: [{ type: "file", mediaType: "text/html", url: "data:," }] });
    await refused({ ...user, parts: [{ type: "file", mediaType: "image/png", url: "file:///etc/passwd" }] });
    await refused({ ...user, role: "system" });
    await refused({ ...user, role: "assistant" });
    await refused(user, "invalid_argument", { trigger: "regenerate-message" });
    expect(asked).toEqual([]);
  });
});

/** The message with its approval given. */
const answered = (message: HarnessUIMessage | undefined, change: object = {}): HarnessUIMessage => ({
  ...(message as HarnessUIMessage),
  parts: (message?.parts ?? []).map((part) =>
    part.type === "dynamic-tool"
      ? {
          ...part,
          state: "approval-responded",
          approval: { id: part.approval?.id, approved: true },
          ...change,
        }
      : part,
  ) as HarnessUIMessage["parts"],
});
