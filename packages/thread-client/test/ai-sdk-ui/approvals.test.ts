import { lastAssistantMessageIsCompleteWithApprovalResponses, validateUIMessages } from "ai";
import { describe, expect, it } from "vitest";
import type { ThreadUIMessage } from "../../src/ai-sdk-ui/index.ts";
import { type Setup, setUp } from "./support/agent.ts";
import { Chat, callsOf, dataOf, readAll, textOf, watched } from "./support/chat.ts";

const openChat = (setup: Setup, messages: ThreadUIMessage[] = []) => {
  const { transport, chunks } = watched(setup.transport);
  const chat = new Chat({
    id: setup.threadId,
    transport,
    messages,
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
  });
  return { chat, chunks };
};

/** A chat whose turn waits for the approval of one call. */
const waiting = async (prompt = "write it") => {
  const setup = await setUp();
  const { chat, chunks } = openChat(setup);
  await chat.sendMessage({ text: prompt });
  return { ...setup, setup, chat, chunks, approvalId: approvalOf(chat.lastMessage) };
};

const approvalOf = (message: ThreadUIMessage | undefined): string =>
  callsOf(message).findLast(({ state }) => state === "approval-requested")?.approval?.id ?? "";

/** The message as `addToolApprovalResponse` leaves it. */
const answered = (message: ThreadUIMessage | undefined, change: object = {}, approval: object = {}) => ({
  ...(message as ThreadUIMessage),
  parts: (message?.parts ?? []).map((part) =>
    part.type === "dynamic-tool" && part.state === "approval-requested"
      ? {
          ...part,
          state: "approval-responded" as const,
          approval: { id: part.approval.id, approved: true, ...approval },
          ...change,
        }
      : part,
  ) as ThreadUIMessage["parts"],
});

const send = (chatId: string, message: ThreadUIMessage) => ({
  trigger: "submit-message" as const,
  chatId,
  messageId: message.id,
  messages: [message],
  abortSignal: undefined,
});

describe("an approval in a chat", () => {
  it("is a part that waits, and the same turn goes on when it is approved", async () => {
    const { chat, chunks, approvalId, agent } = await waiting();
    expect(chat.status).toBe("ready");
    expect(chunks.at(-1)).toMatchObject({ type: "finish", finishReason: "tool-calls" });
    expect(callsOf(chat.lastMessage)).toMatchObject([
      {
        toolName: "write",
        state: "approval-requested",
        input: { path: "milk-0.txt", content: "two litres" },
      },
    ]);
    expect(dataOf(chat.lastMessage, "approval")).toMatchObject([
      { requestId: approvalId, tool: "write", digest: expect.stringMatching(/^sha256[:-]|^[0-9a-f]{64}$/u) },
    ]);
    await chat.addToolApprovalResponse({ id: approvalId, approved: true });
    await expect.poll(() => textOf(chat.lastMessage)).toBe("Let me look. Done. ");
    expect(callsOf(chat.lastMessage)).toMatchObject([
      { state: "output-available", output: "wrote milk-0.txt", approval: { id: approvalId, approved: true } },
    ]);
    expect(dataOf(chat.lastMessage, "approval")).toMatchObject([{ answer: { decision: "once" } }]);
    await expect.poll(() => chat.status).toBe("ready");
    expect(chat.messages).toHaveLength(2);
    expect(agent.runs).toBe(1);
  });

  it("is answered behind a message that was refused because it waits", async () => {
    const { chat, approvalId } = await waiting();
    await chat.sendMessage({ text: "and also" });
    expect(chat.error).toMatchObject({ code: "turn_busy" });
    await chat.addToolApprovalResponse({ id: approvalId, approved: true });
    // useChat sends by itself only what the last message answers.
    await chat.sendMessage();
    const answer = () => chat.messages.findLast(({ role }) => role === "assistant");
    expect(textOf(answer())).toBe("Let me look. Done. ");
  });

  it("is denied when it is refused, and the turn goes on", async () => {
    const { chat, approvalId } = await waiting();
    await chat.addToolApprovalResponse({ id: approvalId, approved: false, reason: "not today" });
    await expect.poll(() => textOf(chat.lastMessage)).toBe("Let me look. Done. ");
    expect(callsOf(chat.lastMessage)).toMatchObject([
      { state: "output-denied", approval: { id: approvalId, approved: false, reason: "not today" } },
    ]);
  });

  it("is followed by the next one of the same turn", async () => {
    const { chat, approvalId } = await waiting("write, then write");
    await chat.addToolApprovalResponse({ id: approvalId, approved: true });
    await expect
      .poll(() => callsOf(chat.lastMessage).map(({ state }) => state))
      .toEqual(["output-available", "approval-requested"]);
    await expect.poll(() => chat.status).toBe("ready");
    await chat.addToolApprovalResponse({ id: approvalOf(chat.lastMessage), approved: true });
    await expect.poll(() => textOf(chat.lastMessage)).toBe("Let me look. Done. ");
    expect(callsOf(chat.lastMessage).map(({ state }) => state)).toEqual([
      "output-available",
      "output-available",
    ]);
    await expect.poll(() => chat.status).toBe("ready");
  });

  it("waits for a page that is loaded again, which answers it", async () => {
    const { setup, transport, threadId, approvalId } = await waiting("read, then write");
    const messages = await transport.readMessages({ chatId: threadId });
    expect(messages.map(({ role }) => role)).toEqual(["user"]);
    const { chat } = openChat(setup, messages);
    await chat.resumeStream();
    expect(approvalOf(chat.lastMessage)).toBe(approvalId);
    await chat.addToolApprovalResponse({ id: approvalId, approved: true });
    await expect.poll(() => textOf(chat.lastMessage)).toBe("Let me look. Done. ");
    expect(chat.messages).toHaveLength(2);
    await validateUIMessages({ messages: await transport.readMessages({ chatId: threadId }) });
  });

  it("that another client answers ends the wait, and what was done since is resumed", async () => {
    const { chat, approvalId, connect } = await waiting();
    const other = await connect();
    await other.respondApproval(approvalId, "once");
    await chat.resumeStream();
    expect(textOf(chat.lastMessage)).toBe("Let me look. Done. ");
    expect(chat.messages).toHaveLength(2);
    expect(dataOf(chat.lastMessage, "approval")).toMatchObject([{ answer: { decision: "once" } }]);
  });

  it("can be answered for always by the application's own function", async () => {
    const setup = await setUp({
      toDecision: ({ approved, reason }) => (reason === "always" ? "always" : approved ? "once" : "reject"),
    });
    const { chat } = openChat(setup);
    await chat.sendMessage({ text: "write it" });
    await chat.addToolApprovalResponse({
      id: approvalOf(chat.lastMessage),
      approved: true,
      reason: "always",
    });
    await expect.poll(() => textOf(chat.lastMessage)).toBe("Let me look. Done. ");
    expect(await setup.client.listGrants()).toMatchObject([{ tool: "write" }]);
  });
});

describe("an answer that cannot count", () => {
  it("to an approval of another thread, or of none, is refused, and answers nothing", async () => {
    const other = await waiting();
    const { transport, client, chat, threadId } = await waiting();
    const foreign = await client.createThread();
    const message = chat.lastMessage as ThreadUIMessage;
    const refused = async (chatId: string, sent: ThreadUIMessage, code: string) =>
      expect(transport.sendMessages(send(chatId, sent))).rejects.toMatchObject({ code });
    await refused(threadId, answered(message, {}, { id: "apr_invented" }), "approval_not_found");
    await refused(threadId, answered(other.chat.lastMessage), "approval_not_found");
    await refused(foreign.threadId, answered(message), "approval_not_found");
    await refused(threadId, answered(message, { input: { path: "other.txt" } }), "approval_digest_mismatch");
    await refused(threadId, answered(message, { toolName: "read" }), "approval_digest_mismatch");
    await refused(threadId, answered(message, { input: null }), "approval_digest_mismatch");
    await refused(threadId, answered(message, {}, { approved: "yes" }), "invalid_argument");
    await refused(threadId, message, "invalid_argument");
    const { events } = await client.getThread(threadId);
    expect(events.filter(({ type }) => type === "approval.resolved")).toEqual([]);
    await readAll(await transport.sendMessages(send(threadId, answered(message))));
  });

  it("is refused the second time, while the turn runs, at the same time, and behind its end", async () => {
    const { transport, agent, chat, client, threadId } = await waiting("write, then hold");
    const sent = send(threadId, answered(chat.lastMessage));
    const both = await Promise.allSettled([transport.sendMessages(sent), transport.sendMessages(sent)]);
    expect(both.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    expect(both.find(({ status }) => status === "rejected")).toMatchObject({
      reason: { code: "approval_settled" },
    });
    await agent.holding.promise;
    await expect(transport.sendMessages(sent)).rejects.toMatchObject({ code: "approval_settled" });
    agent.release();
    for (const each of both) if (each.status === "fulfilled") await readAll(each.value);
    await expect(transport.sendMessages(sent)).rejects.toMatchObject({ code: "approval_not_found" });
    const { events } = await client.getThread(threadId);
    expect(events.filter(({ type }) => type === "approval.resolved")).toHaveLength(1);
  });

  it("holds up no other answer of the same message where it was given twice", async () => {
    const { transport, chat, threadId } = await waiting();
    const message = answered(chat.lastMessage);
    const twice = { ...message, parts: [...message.parts, ...message.parts] };
    const stream = await transport.sendMessages(send(threadId, twice));
    expect((await readAll(stream)).at(-1)).toMatchObject({ type: "finish", finishReason: "stop" });
  });

  it("says what was done before, from the number that the message holds, or nothing without one", async () => {
    const { transport, chat, threadId, chunks } = await waiting("read, then write");
    const message = answered(chat.lastMessage);
    const { seq, ...rest } = message.metadata ?? {};
    expect(seq).toBeGreaterThan(0);
    const going = await readAll(await transport.sendMessages(send(threadId, { ...message, metadata: rest })));
    expect(going[0]).toEqual({ type: "start", messageId: message.id });
    expect(going.map(({ type }) => type)).not.toContain("tool-input-available");
    expect(going.at(-1)).toMatchObject({ type: "finish", finishReason: "stop" });
    expect(chunks.some(({ type }) => type === "tool-input-available")).toBe(true);
  });
});

describe("a prompt that waits for an approval", () => {
  it("is a part of its own, and the turn goes on when it is approved", async () => {
    const setup = await setUp(
      {},
      { promptGate: { before: async () => ({ verdict: "ask", reason: "it looks odd" }) } },
    );
    const { chat } = openChat(setup);
    await chat.sendMessage({ text: "hello" });
    expect(callsOf(chat.lastMessage)).toMatchObject([
      { toolName: "prompt", input: { text: "hello" }, state: "approval-requested" },
    ]);
    expect(setup.agent.runs).toBe(0);
    await chat.addToolApprovalResponse({ id: approvalOf(chat.lastMessage), approved: true });
    await expect.poll(() => textOf(chat.lastMessage)).toBe("Let me look. Done. ");
    expect(setup.agent.runs).toBe(1);
  });

  it("ends the turn with an error when it is refused", async () => {
    const setup = await setUp({}, { promptGate: { before: async () => ({ verdict: "ask" }) } });
    const { chat } = openChat(setup);
    await chat.sendMessage({ text: "hello" });
    await chat.addToolApprovalResponse({ id: approvalOf(chat.lastMessage), approved: false });
    await expect.poll(() => chat.status).toBe("error");
    expect(callsOf(chat.lastMessage)).toMatchObject([{ state: "output-denied" }]);
    expect(setup.agent.runs).toBe(0);
  });
});
