import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { allowAnyone } from "@harnesskit/transport-http";
import {
  type ChatHandlerOptions,
  createChatHandler,
  sendLastMessage,
} from "@harnesskit/transport-http/ai-sdk-ui";
import { toNodeHandler } from "@harnesskit/transport-http/node";
import { DefaultChatTransport, lastAssistantMessageIsCompleteWithApprovalResponses } from "ai";
import { describe, expect, it, onTestFinished } from "vitest";
import type { ThreadUIMessage } from "../../src/ai-sdk-ui/index.ts";
import { type Setup, setUp } from "./support/agent.ts";
import { Chat, callsOf, textOf } from "./support/chat.ts";

/** The transport of a setup behind a handler on a port of this machine. */
const serve = async (setup: Setup, options: Partial<ChatHandlerOptions<undefined>> = {}): Promise<string> => {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const handler = createChatHandler<undefined>({
    transport: setup.transport,
    authenticate: allowAnyone,
    allowedHosts: [host],
    ...options,
  } as ChatHandlerOptions<undefined>);
  server.on("request", toNodeHandler(handler));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://${host}/api/chat`;
};

const openChat = (setup: Setup, api: string, messages: ThreadUIMessage[] = []) =>
  new Chat({
    id: setup.threadId,
    messages,
    transport: new DefaultChatTransport<ThreadUIMessage>({
      api,
      prepareSendMessagesRequest: sendLastMessage,
    }),
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
  });

describe("an ordinary DefaultChatTransport, with the handler", () => {
  it("streams, asks, goes on when approved, and finds its messages again", async () => {
    const setup = await setUp();
    const api = await serve(setup);
    const chat = openChat(setup, api);
    await chat.sendMessage({ text: "read, then write" });
    expect(chat.error).toBeUndefined();
    const id = callsOf(chat.lastMessage).at(-1)?.approval?.id ?? "";
    await chat.addToolApprovalResponse({ id, approved: true });
    await expect.poll(() => textOf(chat.lastMessage)).toBe("Let me look. Done. ");
    await expect.poll(() => chat.status).toBe("ready");
    const response = await fetch(`${api}/${setup.threadId}/messages`);
    const messages = (await response.json()) as ThreadUIMessage[];
    expect(messages).toEqual(await setup.transport.readMessages({ chatId: setup.threadId }));
    expect(messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
    expect(textOf(messages[1])).toBe(textOf(chat.lastMessage));
  });

  it("sends as little of a long chat as of a short one, also for an approval", async () => {
    const setup = await setUp();
    const api = await serve(setup, { limits: { maxBodyBytes: 2000 } });
    const large: ThreadUIMessage = {
      id: "m0",
      role: "user",
      parts: [{ type: "text", text: "x".repeat(2000) }],
    };
    const chat = openChat(setup, api, [large]);
    await chat.sendMessage({ text: "read, read, then write" }, { body: { agent: "code" } });
    expect(chat.error).toBeUndefined();
    const id = callsOf(chat.lastMessage).at(-1)?.approval?.id ?? "";
    chat.messages = chat.messages.map((message) => ({
      ...message,
      parts: [{ type: "text", text: "x".repeat(2000) }, ...message.parts],
    }));
    await chat.addToolApprovalResponse({ id, approved: true });
    await expect.poll(() => textOf(chat.lastMessage)).toContain("Done. ");
  });

  it("resumes behind a connection that was cut, and the turn has not noticed", async () => {
    const setup = await setUp();
    const api = await serve(setup);
    const abort = new AbortController();
    const fetchOnce: typeof fetch = (url, init) => fetch(url, { ...init, signal: abort.signal });
    const cut = new Chat({
      id: setup.threadId,
      transport: new DefaultChatTransport<ThreadUIMessage>({ api, fetch: fetchOnce }),
    });
    const sent = cut.sendMessage({ text: "read, then hold" });
    await expect.poll(() => textOf(cut.lastMessage)).toContain("Half of ");
    abort.abort();
    await sent;
    const chat = openChat(setup, api, await setup.transport.readMessages({ chatId: setup.threadId }));
    const resumed = chat.resumeStream();
    await expect.poll(() => textOf(chat.lastMessage)).toBe("Let me look. Half of ");
    setup.agent.release();
    await resumed;
    expect(textOf(chat.lastMessage)).toBe("Let me look. Half of the answer.Done. ");
    expect(setup.agent.runs).toBe(1);
  });

  it("cancels by the path for it, and the stream says so", async () => {
    const setup = await setUp();
    const api = await serve(setup);
    const chat = openChat(setup, api);
    const sent = chat.sendMessage({ text: "hold" });
    await expect.poll(() => textOf(chat.lastMessage)).toContain("Half of ");
    const cancelled = await fetch(`${api}/${setup.threadId}/cancel`, { method: "POST" });
    expect(cancelled.status).toBe(204);
    await sent;
    expect(chat.status).toBe("ready");
    expect(chat.lastMessage?.metadata).toMatchObject({ status: "cancelled" });
    const late = await fetch(`${api}/${setup.threadId}/cancel`, { method: "POST" });
    expect([late.status, late.headers.get("x-error-code")]).toEqual([404, "turn_not_found"]);
  });

  it("gets a status and a sentence for what is refused", async () => {
    const setup = await setUp();
    const api = await serve(setup);
    const post = async (body: object) => {
      const response = await fetch(api, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      });
      return `${response.status} ${response.headers.get("x-error-code")}`;
    };
    const { threadId: id } = setup;
    const user = { id: "m1", role: "user", parts: [{ type: "text", text: "hold" }] };
    const answer = { state: "approval-responded", approval: { id: "apr_forged", approved: true } };
    const part = { type: "dynamic-tool", toolName: "write", toolCallId: "item_1", input: {}, ...answer };
    const forged = { id: "turn_1", role: "assistant", parts: [part] };
    expect(await post({ id: "ses_unknown", messages: [user] })).toBe("404 thread_not_found");
    expect(await post({ id, messages: [{ ...user, parts: [{ type: "tool-x" }] }] })).toBe(
      "400 invalid_argument",
    );
    expect(await post({ id, messages: [forged] })).toBe("404 approval_not_found");
    void openChat(setup, api).sendMessage({ text: "hold" });
    await setup.agent.holding.promise;
    expect(await post({ id, messages: [user] })).toBe("409 turn_busy");
    expect(await post({ id, messages: [forged] })).toBe("404 approval_not_found");
    const chat = new Chat({
      id: "ses_unknown",
      transport: new DefaultChatTransport<ThreadUIMessage>({ api }),
    });
    await chat.sendMessage({ text: "hello" });
    expect(chat.error?.message).toMatch(/thread/iu);
    await setup.client.close();
    expect(await post({ id, messages: [user] })).toBe("503 connection_closed");
  });
});
