import type { JsonObject, Params } from "@harnesskit/protocol/envelope";
import type { EventBody } from "@harnesskit/protocol/threads";
import { type Channel, methodNotFound, type Transport } from "@harnesskit/wire";
import { type Call, createPeer, type Peer } from "@harnesskit/wire/rpc";
import { createMemoryPair, type MemoryPairOptions, type MemoryWire } from "@harnesskit/wire/testing";
import { onTestFinished } from "vitest";
import { createThreadClient, type ThreadClient, type ThreadClientOptions } from "../src/index.ts";

export type Handler = (params: JsonObject, call: Call, server: ScriptedServer) => unknown;

export interface ReceivedCall {
  readonly method: string;
  readonly params: Params | undefined;
}

/** A server that does what a test says: it answers `initialize` and `turn.start`, and the methods in `handlers`. */
export class ScriptedServer {
  readonly calls: ReceivedCall[] = [];
  readonly transport: Transport;
  /** The server's own end, below the messages. */
  readonly wire: MemoryWire;
  readonly channel: Channel;
  readonly #peer: Peer;
  readonly #waiting: { method: string; resolve: (call: ReceivedCall) => void }[] = [];
  #turns = 0;

  constructor(handlers: Record<string, Handler> = {}, options: MemoryPairOptions = {}) {
    const pair = createMemoryPair(options);
    this.transport = { connect: () => Promise.resolve(pair.client) };
    this.wire = pair.serverWire;
    this.channel = pair.server;
    const all: Record<string, Handler> = {
      initialize: () => ({ version: "1.0.0", capabilities }),
      "turn.start": () => ({ turnId: `turn_${++this.#turns}` }),
      ...handlers,
    };
    this.#peer = createPeer(pair.server, {
      request: (method, params, call) => {
        this.#record({ method, params });
        const handler = all[method];
        if (!handler) throw methodNotFound(method);
        return handler((params ?? {}) as JsonObject, call, this);
      },
    });
  }

  /** Sends a notification as it is, valid or not. */
  notify(name: string, params: unknown): void {
    void this.#peer.notify(name, params);
  }

  send(...events: EventBody[]): void {
    for (const { type, data } of events) this.notify(type, data);
  }

  /** Settles when a call of this method arrives that was not asked for before. */
  called(method: string): Promise<ReceivedCall> {
    return new Promise((resolve) => this.#waiting.push({ method, resolve }));
  }

  count(method: string): number {
    return this.calls.filter((call) => call.method === method).length;
  }

  close(): Promise<void> {
    return this.#peer.close();
  }

  #record(call: ReceivedCall): void {
    this.calls.push(call);
    const index = this.#waiting.findIndex(({ method }) => method === call.method);
    if (index >= 0) this.#waiting.splice(index, 1)[0]?.resolve(call);
  }
}

export const capabilities = {
  threads: true,
  turns: true,
  approvals: true,
  streaming: true,
  persistence: true,
};

export interface ConnectedOptions extends ThreadClientOptions {
  readonly signal?: AbortSignal;
}

/** A client that is connected, and closed when the test has ended. */
export const connectClient = async ({ signal, ...options }: ConnectedOptions): Promise<ThreadClient> => {
  const client = createThreadClient(options);
  onTestFinished(() => client.close());
  await client.connect({ signal });
  return client;
};

/** A client that is connected to a scripted server; both are closed when the test has ended. */
export const setUp = async (
  handlers: Record<string, Handler> = {},
  options: Omit<ThreadClientOptions, "transport"> & { memory?: MemoryPairOptions } = {},
) => {
  const { memory, ...rest } = options;
  const server = new ScriptedServer(handlers, memory);
  onTestFinished(() => server.close());
  return { server, client: await connectClient({ transport: server.transport, reconnect: false, ...rest }) };
};
