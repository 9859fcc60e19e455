import { HarnessError, InvalidArgumentError } from "@harnesskit/wire";
import { createManualClock } from "@harnesskit/wire/testing";
import { describe, expect, it } from "vitest";
import { until } from "../../../test-kit/test-kit.ts";
import type { ChatSource } from "../src/ai-sdk-ui/chat-source.ts";
import { type ChatHandlerOptions, createChatHandler } from "../src/ai-sdk-ui/index.ts";

const token = "a-token-of-the-chat-handler";

const chunksOf = (...chunks: unknown[]) =>
  new ReadableStream<unknown>({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });

class Source implements ChatSource {
  readonly calls: unknown[] = [];

  async sendMessages(options: unknown): Promise<ReadableStream<unknown>> {
    this.calls.push(options);
    return chunksOf({ type: "start" }, { type: "finish" });
  }

  async reconnectToStream(): Promise<ReadableStream<unknown> | null> {
    return null;
  }
}

const handlerOf = (transport: ChatSource, options: Partial<ChatHandlerOptions> = {}) =>
  createChatHandler({ transport, token, allowedHosts: ["agent.example"], ...options } as ChatHandlerOptions);

const request = (
  path: string,
  { headers = {}, ...init }: RequestInit & { headers?: Record<string, string> } = {},
) =>
  new Request(`http://agent.example${path}`, {
    ...init,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json", ...headers },
  });

const post = (body: unknown, headers: Record<string, string> = {}) =>
  request("/api/chat", {
    method: "POST",
    body: typeof body === "string" ? body : JSON.stringify(body),
    headers,
  });

const message = { id: "chat-1", messages: [{ id: "m1", role: "user", parts: [] }] };

describe("the handler of chats", () => {
  it("streams chunks as events, under the header that the AI SDK knows", async () => {
    const source = new Source();
    const response = await handlerOf(source)(post({ ...message, trigger: "submit-message", agent: "code" }));
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    expect(response.headers.get("x-vercel-ai-ui-message-stream")).toBe("v1");
    expect(response.headers.get("cache-control")).toBe("no-store");
    expect(await response.text()).toBe(
      'data: {"type":"start"}\n\ndata: {"type":"finish"}\n\ndata: [DONE]\n\n',
    );
    expect(source.calls).toEqual([
      {
        chatId: "chat-1",
        trigger: "submit-message",
        messageId: undefined,
        messages: message.messages,
        abortSignal: undefined,
        body: { agent: "code" },
      },
    ]);
  });

  it("refuses what is no request of a chat, and asks the source nothing", async () => {
    const source = new Source();
    const handler = handlerOf(source, { limits: { maxBodyBytes: 1000, maxDepth: 8 } });
    const status = async (sent: Request) => (await handler(sent)).status;
    expect(await status(post("{"))).toBe(400);
    expect(await status(post("[]"))).toBe(400);
    expect(await status(post('{"id":'.padEnd(20, "[")))).toBe(400);
    expect(await status(post(`{"a":${"[".repeat(20)}${"]".repeat(20)}}`))).toBe(400);
    expect(await status(post({ ...message, id: "" }))).toBe(400);
    expect(await status(post({ ...message, id: "x".repeat(201) }))).toBe(400);
    expect(await status(post({ ...message, messages: [] }))).toBe(400);
    expect(await status(post({ ...message, trigger: "delete" }))).toBe(400);
    expect(await status(post({ ...message, messageId: 7 }))).toBe(400);
    expect(await status(post({ ...message, filler: "x".repeat(1000) }))).toBe(413);
    expect(await status(post(message, { "content-type": "text/plain" }))).toBe(415);
    expect(await status(post(message, { authorization: "Bearer another-token-altogether" }))).toBe(401);
    expect(await status(post(message, { origin: "https://evil.example" }))).toBe(403);
    expect(await status(request("/api/chat"))).toBe(405);
    expect(await status(request("/api/chat/a/cancel"))).toBe(405);
    expect(await status(request("/api/chatter", { method: "POST", body: "{}" }))).toBe(404);
    expect(await status(request("/api/chat/a/b/stream"))).toBe(404);
    expect(await status(request("/api/chat/%zz/stream"))).toBe(404);
    expect(await status(request(`/api/chat/${"x".repeat(201)}/stream`))).toBe(404);
    const other = new Request("http://rebound.example/api/chat", { method: "POST", body: "{}" });
    expect(await status(other)).toBe(403);
    expect(source.calls).toEqual([]);
  });

  it("says that there is nothing to resume, to read or to cancel", async () => {
    const handler = handlerOf(new Source());
    expect((await handler(request("/api/chat/a%2Fb/stream"))).status).toBe(204);
    expect((await handler(request("/api/chat/a/messages"))).status).toBe(404);
    expect((await handler(request("/api/chat/a/cancel", { method: "POST" }))).status).toBe(404);
  });

  it("asks whether the principal may do it with this chat, before the chat is looked at", async () => {
    const source = new Source();
    const asked: unknown[] = [];
    const handler = createChatHandler({
      transport: source,
      authenticate: ({ header }) => ({ principal: header("x-user") ?? "" }),
      authorize: (what) => {
        asked.push(what);
        return what.principal === "ada";
      },
      allowedHosts: ["agent.example"],
    });
    expect((await handler(post(message, { "x-user": "bob" }))).status).toBe(403);
    expect((await handler(request("/api/chat/chat-1/stream", { headers: { "x-user": "bob" } }))).status).toBe(
      403,
    );
    expect(source.calls).toEqual([]);
    expect((await handler(post(message, { "x-user": "ada" }))).status).toBe(200);
    expect(asked).toEqual([
      { action: "send", chatId: "chat-1", principal: "bob" },
      { action: "resume", chatId: "chat-1", principal: "bob" },
      { action: "send", chatId: "chat-1", principal: "ada" },
    ]);
  });

  it("answers a failure with its status and code, and says nothing of the server", async () => {
    const errors: unknown[] = [];
    const failing = async (error: Error) => {
      const source: ChatSource = {
        sendMessages: () => Promise.reject(error),
        reconnectToStream: async () => null,
      };
      const response = await handlerOf(source, { onError: (failed) => errors.push(failed) })(post(message));
      return `${response.status} ${response.headers.get("x-error-code")}: ${await response.text()}`;
    };
    const secret = "connect ENOENT /home/ada/agent.sock";
    const away = "The agent cannot be reached at the moment: try again.";
    expect(await failing(new InvalidArgumentError("say more"))).toBe("400 invalid_argument: say more");
    expect(await failing(new HarnessError("turn_busy", "It runs."))).toBe("409 turn_busy: It runs.");
    expect(await failing(new HarnessError("thread_archived", "No."))).toBe("409 thread_archived: No.");
    expect(await failing(new HarnessError("transport_failed", secret))).toBe(`503 transport_failed: ${away}`);
    expect(errors).toEqual([]);
    expect(await failing(new TypeError(secret))).toBe(
      "500 internal_error: The request could not be handled.",
    );
    expect(errors).toMatchObject([{ message: secret }]);
  });

  it("ends a stream that fails with an error chunk", async () => {
    const errors: unknown[] = [];
    const source: ChatSource = {
      sendMessages: async () =>
        new ReadableStream({
          start: (controller) => controller.enqueue({ type: "start" }),
          pull: (controller) => controller.error(new TypeError("a secret")),
        }),
      reconnectToStream: async () => null,
    };
    const response = await handlerOf(source, { onError: (error) => errors.push(error) })(post(message));
    const text = await response.text();
    expect(text).toContain(
      'data: {"type":"error","errorText":"The request could not be handled."}\n\ndata: [DONE]',
    );
    expect(errors).toMatchObject([{ message: "a secret" }]);
  });

  it("leaves a stream whose chunk cannot be written", async () => {
    const left: unknown[] = [];
    const source: ChatSource = {
      sendMessages: async () =>
        new ReadableStream({
          start: (controller) => controller.enqueue({ type: "data-x", data: 1n }),
          cancel: (reason) => void left.push(reason),
        }),
      reconnectToStream: async () => null,
    };
    const response = await handlerOf(source)(post(message));
    expect(await response.text()).toContain("[DONE]");
    expect(left).toHaveLength(1);
  });

  it("keeps a silent stream alive, and leaves it when the page goes away", async () => {
    const clock = createManualClock();
    const left: unknown[] = [];
    let controller: ReadableStreamDefaultController<unknown> | undefined;
    const source: ChatSource = {
      reconnectToStream: async () =>
        new ReadableStream({
          start: (own) => {
            controller = own;
          },
          cancel: () => void left.push("left"),
        }),
      sendMessages: () => Promise.reject(new TypeError("not called")),
    };
    const handler = handlerOf(source, { clock, limits: { streamPingMs: 100, maxInFlight: 1 } });
    const abort = new AbortController();
    const response = await handler(request("/api/chat/a/stream", { signal: abort.signal }));
    expect((await handler(post(message))).status).toBe(503);
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    const first = reader?.read();
    let ping: string | undefined;
    void first?.then(({ value }) => {
      ping = value;
    });
    await until(() => {
      clock.advance(100);
      return ping !== undefined;
    });
    expect(ping).toMatch(/^:\n\n/);
    controller?.enqueue({ type: "start" });
    let text = "";
    while (!text.includes('data: {"type":"start"}\n\n')) text += (await reader?.read())?.value;
    abort.abort();
    await expect.poll(() => left).toEqual(["left"]);
    expect((await handler(post({ ...message, messages: [] }))).status).toBe(400);
  });
});
