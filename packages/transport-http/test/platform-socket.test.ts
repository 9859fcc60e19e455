import { type Channel, createDeferred } from "@harnesskit/wire";
import { type ContractPair, channelContract, createManualClock } from "@harnesskit/wire/testing";
import { describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { record, rejection, thrown, until } from "../../../test-kit/test-kit.ts";
import { createWebSocketTransport, type PlatformTransportOptions } from "../src/index.ts";
import type { PlatformWebSocket } from "../src/socket/platform-socket.ts";
import { startSocketServer, token } from "./support.ts";

const limits = { maxFrameBytes: 65_536, maxBufferedBytes: 262_144 };

type Constructor = NonNullable<PlatformTransportOptions["WebSocket"]>;

/** The WebSocket of the ws package, held to what a browser lets a page do. */
class PageWebSocket extends WebSocket {
  static last: PageWebSocket | undefined;

  constructor(url: string, protocols?: string[]) {
    super(url, protocols ?? [], { perMessageDeflate: false });
    PageWebSocket.last = this;
    this.on("error", () => {});
  }

  override close(code?: number): void {
    if (code !== undefined && code !== 1000 && !(code >= 3000 && code <= 4999)) {
      throw new DOMException("InvalidAccessError");
    }
    super.close(code);
  }
}

const Page = PageWebSocket as unknown as Constructor;

const connect = (url: string, options: Partial<PlatformTransportOptions> = {}) =>
  createWebSocketTransport({
    url,
    credentials: { bearer: token },
    credentialsIn: "query",
    WebSocket: Page,
    ...options,
  }).connect();

describe("a platform's WebSocket", () => {
  const makePair = async (): Promise<ContractPair> => {
    const accepted = createDeferred<Channel>();
    const server = await startSocketServer({ limits });
    void server.nextChannel().then(accepted.resolve);
    const client = await connect(server.socketUrl, { limits: { ...limits, closeTimeoutMs: 500 } });
    const page = PageWebSocket.last;
    return {
      client,
      server: await accepted.promise,
      killClient: () => page?.terminate(),
      async dispose() {
        page?.terminate();
        await Promise.all([client.close(), server.close()]);
      },
    };
  };
  const profile = { framing: "message", halfClose: false, rawBytes: false, ...limits } as const;
  for (const { name, run } of channelContract({ name: "page", makePair, profile })) it(name, run);

  it("is Node's own or a browser's where none is passed", () => {
    const { WebSocket: own } = globalThis as { WebSocket?: unknown };
    const make = () => createWebSocketTransport({ url: "ws://127.0.0.1/" });
    if (own) expect(make()).toHaveProperty("connect");
    else expect(thrown(make)).toMatchObject({ code: "invalid_argument" });
  });

  it("sends credentials only where it is told to, and shows none", async () => {
    const make = () =>
      createWebSocketTransport({ url: "ws://127.0.0.1/", credentials: { bearer: token }, WebSocket: Page });
    const error = thrown(make);
    expect(error).toMatchObject({ name: "InvalidArgumentError", code: "invalid_argument" });
    expect(error.message).toContain("credentialsIn");
    await using server = await startSocketServer();
    const channel = await connect(server.socketUrl);
    expect(JSON.stringify(channel.context)).toBe(
      JSON.stringify({ transport: "websocket", endpoint: server.socketUrl }),
    );
    await channel.close();
    const stranger = await rejection(connect(server.socketUrl, { credentials: { bearer: "wrong" } }));
    expect(stranger).toMatchObject({ code: "transport_failed" });
    expect(stranger.message).not.toContain("wrong");
  });

  it("that the platform does not open is no leak of the credentials", async () => {
    class ForbiddenWebSocket {
      constructor(url: string) {
        throw new DOMException(`An insecure connection to ${url} may not be opened`, "SecurityError");
      }
    }
    const WebSocket = ForbiddenWebSocket as unknown as Constructor;
    const error = await rejection(connect("ws://agent.test/ahp", { WebSocket }));
    expect(error).toMatchObject({ code: "transport_failed" });
    expect(`${error.message} ${error.cause}`).not.toContain(token);
  });

  it("gives up after its time and with its signal", async () => {
    class SilentWebSocket extends EventTarget {
      static closed = 0;
      readonly readyState = 0;
      close() {
        SilentWebSocket.closed++;
      }
    }
    const clock = createManualClock();
    const transport = createWebSocketTransport({
      url: "ws://127.0.0.1/",
      WebSocket: SilentWebSocket as unknown as Constructor,
      limits: { connectTimeoutMs: 1000 },
      clock,
    });
    const late = rejection(transport.connect());
    clock.advance(1000);
    expect(await late).toMatchObject({ code: "transport_failed" });
    const abort = new AbortController();
    const given = rejection(transport.connect({ signal: abort.signal }));
    abort.abort("enough");
    expect(await given).toMatchObject({ code: "request_cancelled", cause: "enough" });
    expect((await rejection(transport.connect({ signal: abort.signal }))).code).toBe("request_cancelled");
    expect([SilentWebSocket.closed, clock.pending]).toEqual([2, 0]);
  });
});

/** A WebSocket that a test plays the other side of. */
class ScriptedWebSocket extends EventTarget {
  static last: ScriptedWebSocket;
  binaryType = "blob";
  bufferedAmount = 0;
  readyState = 1;
  readonly protocol = "";
  readonly sent: string[] = [];
  readonly closes: (number | undefined)[] = [];

  constructor() {
    super();
    ScriptedWebSocket.last = this;
    queueMicrotask(() => this.dispatchEvent(new Event("open")));
  }

  send(text: string) {
    this.sent.push(text);
  }

  close(code?: number) {
    this.closes.push(code);
  }

  receive(data: unknown) {
    this.dispatchEvent(Object.assign(new Event("message"), { data }));
  }

  closed(code: number, reason = "") {
    this.readyState = 3;
    this.dispatchEvent(Object.assign(new Event("close"), { code, reason }));
  }
}

const scripted = async (options: Partial<PlatformTransportOptions> = {}) => {
  const channel = await createWebSocketTransport({
    url: "ws://agent.test/",
    WebSocket: ScriptedWebSocket as unknown as new () => PlatformWebSocket,
    ...options,
  }).connect();
  return { channel, socket: ScriptedWebSocket.last };
};

describe("what a page receives", () => {
  it("that nobody reads is bounded", async () => {
    const { channel, socket } = await scripted({ limits: { maxBufferedBytes: 1000 } });
    for (let count = 0; count < 11; count++) socket.receive(JSON.stringify("x".repeat(98)));
    expect(socket.closes).toEqual([4008]);
    const log = record(channel);
    await until(() => log.closed !== undefined);
    expect(log.closed?.error).toMatchObject({ code: "buffer_full", limit: 1000 });
    expect(log.messages).toEqual([]);
  });

  it("that is binary, too large or no message closes it, each with its code", async () => {
    const faults: [data: unknown, code: number, error: string][] = [
      [new ArrayBuffer(2), 4003, "unsupported_data"],
      [JSON.stringify("x".repeat(200)), 4009, "frame_too_large"],
    ];
    for (const [data, code, error] of faults) {
      const { channel, socket } = await scripted({ limits: { maxFrameBytes: 100 } });
      const log = record(channel);
      socket.receive(data);
      expect(socket.closes).toEqual([code]);
      socket.closed(code);
      expect((await channel.closed).error).toMatchObject({ code: error });
      expect(log.messages).toEqual([]);
    }
    const { channel, socket } = await scripted();
    expect(socket.binaryType).toBe("arraybuffer");
    const log = record(channel);
    socket.receive("{");
    socket.receive("1");
    expect(log.messages).toEqual([1]);
    expect(log.errors).toMatchObject([{ code: "invalid_message" }]);
    expect(channel.signal.aborted).toBe(false);
  });
});

describe("what a page sends", () => {
  it("counts as handed over when the platform has sent most of it, and is refused above the limit", async () => {
    const clock = createManualClock();
    const { channel, socket } = await scripted({ clock, limits: { maxBufferedBytes: 1000 } });
    record(channel);
    socket.bufferedAmount = 1_000_000;
    let settled = false;
    const sending = channel.send("x".repeat(2000)).then(() => {
      settled = true;
    });
    await until(() => clock.pending === 1);
    expect(await rejection(channel.send("more"))).toMatchObject({ code: "buffer_full" });
    clock.advance(100);
    expect(settled).toBe(false);
    socket.bufferedAmount = 0;
    clock.advance(10);
    await sending;
    expect(socket.sent).toEqual([JSON.stringify("x".repeat(2000))]);
    socket.bufferedAmount = 1_000_000;
    const lost = rejection(channel.send(1));
    await until(() => clock.pending === 1);
    socket.closed(1006);
    clock.advance(10);
    expect((await lost).code).toBe("connection_closed");
    expect(clock.pending).toBe(0);
  });

  it("cuts a close that the other side does not answer", async () => {
    const clock = createManualClock();
    const { channel, socket } = await scripted({ clock, limits: { closeTimeoutMs: 500 } });
    record(channel);
    const closing = channel.close();
    await until(() => socket.closes.length === 1);
    clock.advance(500);
    await closing;
    expect(await channel.closed).toEqual({});
  });
});
