import { connect } from "node:net";
import { createDeferred, isMessageStream } from "@harnesskit/wire";
import { createManualClock } from "@harnesskit/wire/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { rejection } from "../../../test-kit/test-kit.ts";
import { createHttpExchange as createFetchExchange, createFetchHandler } from "../src/index.ts";
import { createHttpExchange, createHttpServer } from "../src/node/index.ts";

const token = "a-token-of-this-test";
const credentials = { bearer: token };
const eventHeaders = { "content-type": "application/json", accept: "text/event-stream" };

/** Messages that are given one by one, and whether they were left. */
const given = () => {
  const queue: unknown[] = [];
  let wake = createDeferred<void>();
  let isOver = false;
  let asked = 0;
  const left = createDeferred<void>();
  const stream: AsyncIterableIterator<unknown> = {
    async next() {
      asked++;
      while (queue.length === 0 && !isOver) await wake.promise;
      const isThere = queue.length > 0;
      const value = queue.shift();
      return !isThere ? { done: true, value: undefined } : { done: false, value };
    },
    async return() {
      isOver = true;
      left.resolve();
      wake.resolve();
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]: () => stream,
  };
  const poke = () => {
    wake.resolve();
    wake = createDeferred();
  };
  return {
    stream,
    asked: () => asked,
    left: left.promise,
    give: (...messages: unknown[]) => {
      queue.push(...messages);
      poke();
    },
    end: () => {
      isOver = true;
      poke();
    },
  };
};

const serve = async (handleStream: (message: unknown) => Promise<unknown>, more: object = {}) => {
  const errors: unknown[] = [];
  const server = createHttpServer({
    token,
    routes: {
      "/s": {
        handle: async () => "plain",
        handleStream,
        unsendable: (_reply, error) => ({ unsendable: error.code }),
        replyHeaders: () => ({ "x-request-id": "r1" }),
      },
      "/plain": { handle: async () => "plain" },
    },
    onError: (error) => errors.push(error),
    ...more,
  });
  await server.listen();
  onTestFinished(() => server.close());
  const url = `${server.url}/s`;
  const post = (headers: Record<string, string> = {}, path = "/s", signal?: AbortSignal) =>
    fetch(`${server.url}${path}`, {
      method: "POST",
      ...(signal && { signal }),
      headers: {
        authorization: `Bearer ${token}`,
        ...eventHeaders,
        ...headers,
      },
      body: "{}",
    });
  return { server, url, post, errors };
};

const collect = async (answer: unknown): Promise<unknown[]> => {
  if (!isMessageStream(answer)) return expect.fail("it is not a stream");
  const messages: unknown[] = [];
  for await (const message of answer) messages.push(message);
  return messages;
};

const codeOf = async (work: Promise<unknown>): Promise<string> => (await rejection(work)).code;

describe("a route that answers with events", () => {
  it("sends one event for each message, and says so in its headers", async () => {
    const { stream, give, end } = given();
    const { post, server } = await serve(async () => stream);
    give({ text: "a\nb" }, 1, []);
    end();
    const response = await post();
    expect([response.status, response.headers.get("content-type")]).toEqual([200, "text/event-stream"]);
    expect([response.headers.get("x-request-id"), response.headers.get("cache-control")]).toEqual([
      "r1",
      "no-store",
    ]);
    expect(await response.text()).toBe('data: {"text":"a\\nb"}\n\ndata: 1\n\ndata: []\n\n');
    await expect.poll(() => server.inFlight).toBe(0);
  });

  it("answers with a reply where the client takes no events, and on routes without them", async () => {
    const { post } = await serve(async () => expect.fail("it must not be called"));
    for (const accept of ["application/json", "*/*", "text/event-stream;q=0", ""]) {
      expect(await (await post({ accept })).json()).toBe("plain");
    }
    expect(await (await post({}, "/plain")).json()).toBe("plain");
    const reply = await serve(async () => ({ a: "reply" }));
    expect(await (await reply.post()).json()).toEqual({ a: "reply" });
    const none = await serve(async () => undefined);
    expect((await none.post()).status).toBe(204);
  });

  it("sends a comment when it was silent for a time", async () => {
    const clock = createManualClock();
    const { stream, give, end } = given();
    const { post } = await serve(async () => stream, { clock, limits: { streamPingMs: 1_000 } });
    const response = await post();
    let text = "";
    const read = (async () => {
      for await (const piece of response.body ?? []) text += Buffer.from(piece).toString();
    })();
    const passing = () => {
      clock.advance(1_000);
      return text;
    };
    await expect.poll(passing).toMatch(/^:\n\n/);
    give(1);
    end();
    await read;
    expect(text.replaceAll(":\n\n", "")).toBe("data: 1\n\n");
  });

  /** A client that reads nothing of a stream that is longer than what the connection holds. */
  const postUnread = (port: number | undefined, give: ReturnType<typeof given>["give"]) => {
    const socket = connect(port ?? 0, "127.0.0.1");
    socket.on("error", () => {});
    socket.pause();
    const head = [
      "POST /s HTTP/1.1",
      `host: 127.0.0.1:${port}`,
      `authorization: Bearer ${token}`,
      "content-type: application/json",
      "accept: text/event-stream",
      "content-length: 2",
    ];
    socket.write(`${head.join("\r\n")}\r\n\r\n{}`);
    const big = "x".repeat(1_000_000);
    give(...Array.from({ length: 60 }, () => big));
    onTestFinished(() => void socket.destroy());
    return socket;
  };

  /** A server has stopped asking when the number stands still while the socket is full. */
  const untilStill = async (asked: () => number) => {
    let before = -1;
    const isStill = () => {
      const still = asked() > 1 && asked() === before;
      before = asked();
      return still;
    };
    await expect.poll(isStill).toBe(true);
  };

  it("leaves the messages when the client goes, and takes no more than a slow one reads", async () => {
    const { stream, asked, give, left } = given();
    const { server } = await serve(async () => stream, { limits: { streamPingMs: 60_000 } });
    const socket = postUnread(server.port, give);
    await untilStill(asked);
    expect(asked()).toBeLessThan(40);
    expect(server.inFlight).toBe(1);
    socket.destroy();
    await left;
    await expect.poll(() => server.inFlight).toBe(0);
  });

  it("leaves the messages, and the connection, when the client takes nothing for a time", async () => {
    const { stream, give, left } = given();
    const { server } = await serve(async () => stream, { limits: { streamPingMs: 50 } });
    const socket = postUnread(server.port, give);
    await left;
    await expect.poll(() => server.inFlight).toBe(0);
    socket.resume();
    await expect.poll(() => socket.destroyed).toBe(true);
  });

  it("puts something in the place of a message that cannot be sent", async () => {
    const { stream, give, end } = given();
    const { post } = await serve(async () => stream, { limits: { maxBodyBytes: 1_000 } });
    give("x".repeat(2_000));
    end();
    expect(await (await post()).text()).toBe('data: {"unsendable":"frame_too_large"}\n\n');
  });

  it("works as a fetch handler, and leaves the messages when the body is cancelled", async () => {
    const { stream, give, left } = given();
    const handler = createFetchHandler({
      path: "/s",
      token,
      allowedHosts: ["shop.example"],
      handle: async () => "plain",
      handleStream: async () => stream,
    });
    const headers = { ...eventHeaders, authorization: `Bearer ${token}` };
    const response = await handler(
      new Request("http://shop.example/s", { method: "POST", headers, body: "1" }),
    );
    give({ a: 1 });
    const reader = response.body?.getReader();
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('data: {"a":1}\n\n');
    await reader?.cancel();
    await left;
  });
});

describe.each([
  ["node:http", createHttpExchange],
  ["fetch", createFetchExchange],
])("an exchange over %s", (_, createExchange) => {
  it("reads messages, or a reply", async () => {
    const { stream, give, end } = given();
    const { url } = await serve(async (message) => (message === "events" ? stream : { you: message }));
    const exchange = createExchange({ url, credentials });
    onTestFinished(() => exchange.close());
    give({ text: "ä\n😀" }, null);
    end();
    const answer = await exchange.handleStream("events");
    expect(await collect(answer)).toEqual([{ text: "ä\n😀" }, null]);
    expect(await exchange.handleStream("reply")).toEqual({ you: "reply" });
    expect(await exchange.handle("events")).toBe("plain");
    expect(
      await codeOf(createExchange({ url, credentials: { bearer: "x".repeat(20) } }).handleStream("x")),
    ).toBe("unauthorized");
  });

  it("rejects where the connection breaks, the call is given up, or the exchange is closed", async () => {
    let { stream, give } = given();
    const { url, server } = await serve(async () => stream, { limits: { graceMs: 1 } });
    const exchange = createExchange({ url, credentials });
    const giveUp = new AbortController();
    const open = async (call = {}) => {
      const answer = await exchange.handleStream("events", call);
      if (!isMessageStream(answer)) return expect.fail("it is not a stream");
      return answer[Symbol.asyncIterator]();
    };
    const first = await open({ signal: giveUp.signal });
    give(1);
    expect((await first.next()).value).toBe(1);
    const pending = codeOf(first.next());
    giveUp.abort();
    expect(await pending).toBe("request_cancelled");
    ({ stream, give } = given());
    const cut = codeOf((await open()).next());
    await server.close();
    expect(await cut).toBe("transport_failed");
    exchange.close();
    expect(await codeOf(exchange.handleStream("x"))).toBe("connection_closed");
  });
});

describe("what an exchange reads of an event stream", () => {
  /** An exchange whose server sends these bytes, in these pieces. */
  const reading = (pieces: readonly Uint8Array[], more: object = {}, isEnding = true) => {
    const exchange = createFetchExchange({
      url: "http://127.0.0.1:1/s",
      limits: { maxMessageBytes: 1_000, maxSilenceMs: 500 },
      ...more,
      fetch: async () =>
        new Response(
          new ReadableStream({
            start(controller) {
              for (const piece of pieces) controller.enqueue(piece);
              if (isEnding) controller.close();
            },
          }),
          { headers: { "content-type": "text/event-stream; charset=utf-8" } },
        ),
    });
    return exchange.handleStream("x").then(collect);
  };
  const bytes = (text: string) => new TextEncoder().encode(text);

  it("is refused where it is not JSON, nests too deeply, or has no end", async () => {
    expect(await codeOf(reading([bytes("data: {\n\n")]))).toBe("invalid_message");
    expect(await codeOf(reading([bytes(`data: ${"[".repeat(100)}\n\n`)]))).toBe("invalid_message");
    expect(await codeOf(reading([bytes(`data: "${"x".repeat(1_000)}"\n\n`)]))).toBe("frame_too_large");
    const endless = Array.from({ length: 10 }, () => bytes(`data: ${"x".repeat(500)}`));
    expect(await codeOf(reading(endless, {}, false))).toBe("frame_too_large");
    const lines = Array.from({ length: 10 }, () => bytes(`data: ${"x".repeat(500)}\n`));
    expect(await codeOf(reading(lines, {}, false))).toBe("frame_too_large");
  });

  it("has failed after a silence in which no comment came", async () => {
    const clock = createManualClock();
    const code = codeOf(reading([bytes(": a comment\n\n")], { clock }, false));
    const tick = setInterval(() => clock.advance(100), 1);
    onTestFinished(() => clearInterval(tick));
    expect(await code).toBe("request_timeout");
  });
});
