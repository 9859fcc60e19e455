import type { BlockingEventType } from "@harnesskit/protocol/ahp";
import { type Channel, type Clock, newlineCodec, type Transport, TransportError } from "@harnesskit/wire";
import { createMemoryPair, type MemoryWire } from "@harnesskit/wire/testing";
import { expect } from "vitest";
import { poll } from "./poll.ts";
import { agreements, handshakeResult } from "./samples.ts";

/** A message as a harness gets it. */
export interface Message {
  jsonrpc: string;
  id?: string;
  method: string;
  params: any;
}

/** One connection, seen from the harness. */
export interface Connection {
  readonly channel: Channel;
  readonly wire: MemoryWire;
  /** Sends a line that need not be a message. */
  write(line: unknown): void;
  reply(message: Message, result: unknown): void;
  fail(message: Message, code: number, text: string, data?: unknown): void;
}

type Answer = (message: Message, connection: Connection) => void;

/** What a harness that agrees to everything answers. */
export const agree: Answer = (message, connection) => {
  const { method, params } = message;
  if (method === "ahp/handshake") connection.reply(message, handshakeResult());
  else if (method === "ahp/query")
    connection.reply(message, { answer: 42, reason: "r", alternatives: ["a"] });
  else if (method === "ahp/batch") {
    const decisions = params.events.map((_: unknown, index: number) => ({
      decision: "allow",
      metadata: { index },
    }));
    connection.reply(message, { decisions });
  } else if (message.id !== undefined) {
    connection.reply(message, agreements[params.event_type as BlockingEventType]);
  }
};

/** Answers the handshake with this, and everything else as told. */
export const afterHandshake =
  (answer: Answer, more: object = {}): Answer =>
  (message, connection) => {
    if (message.method === "ahp/handshake") connection.reply(message, handshakeResult(more));
    else answer(message, connection);
  };

/** A harness in memory that does what a test tells it, over as many connections as the client opens. */
export class FakeHarness implements Transport {
  readonly received: Message[] = [];
  readonly connections: Connection[] = [];
  answer: Answer;
  /** Connecting fails as long as this is set. */
  refusesWith: Error | undefined;
  readonly #clock: Clock | undefined;

  constructor(answer: Answer = agree, clock?: Clock) {
    this.answer = answer;
    this.#clock = clock;
  }

  async connect(): Promise<Channel> {
    if (this.refusesWith) throw this.refusesWith;
    return this.open();
  }

  open(): Channel {
    const codec = newlineCodec();
    const clock = this.#clock ? { clock: this.#clock } : {};
    const { client, server, serverWire } = createMemoryPair({ codec, ...clock });
    const write = (line: unknown) => void server.send(line).catch(() => {});
    const connection: Connection = {
      channel: server,
      wire: serverWire,
      write,
      reply: ({ id }, result) => write({ jsonrpc: "2.0", id, result }),
      fail: ({ id }, code, message, data) =>
        write({ jsonrpc: "2.0", id, error: { code, message, ...(data === undefined ? {} : { data }) } }),
    };
    this.connections.push(connection);
    server.start({
      message: (message) => {
        this.received.push(message as Message);
        this.answer(message as Message, connection);
      },
      error: () => {},
      end: () => void server.close(),
      close: () => {},
    });
    return client;
  }

  get last(): Connection {
    return this.connections.at(-1) ?? expect.fail("nobody has connected");
  }

  /** Nobody listens from now on. */
  refuse(): void {
    this.refusesWith = new TransportError("nobody listens");
  }

  /** The events that came, of requests and notifications. */
  get events(): any[] {
    return this.received.filter(({ method }) => method === "ahp/event").map(({ params }) => params);
  }

  /** The methods that were called, in order. */
  get methods(): string[] {
    return this.received.map(({ method }) => method);
  }

  /** Waits until so many messages of a method came. */
  async until(method: string, count: number): Promise<void> {
    await poll(() => this.methods.filter((name) => name === method).length).toBeGreaterThanOrEqual(count);
  }
}
