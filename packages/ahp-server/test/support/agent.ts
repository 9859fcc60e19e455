import type { Channel } from "@harnesskit/wire";
import { createMemoryPair, type MemoryPairOptions, type MemoryWire } from "@harnesskit/wire/testing";
import type { AhpServer } from "../../src/index.ts";
import { handshake, notification, request } from "./messages.ts";

/** An answer as it arrived. */
export interface Received {
  jsonrpc: string;
  id: string | number | null;
  result?: any;
  error?: { code: number; message: string; data: Record<string, unknown> };
}

/** An agent with no code of ours above the channel: it sees every message in the order of its arrival. */
export class RawAgent {
  readonly received: Received[] = [];
  readonly closed: Channel["closed"];
  #waiting: (() => void)[] = [];
  #lastId = 0;

  constructor(
    readonly channel: Channel,
    readonly wire: MemoryWire,
  ) {
    this.closed = channel.closed;
    const wake = () => {
      for (const each of this.#waiting.splice(0)) each();
    };
    channel.start({
      message: (message) => {
        this.received.push(message as Received);
        wake();
      },
      error: () => {},
      end: () => {},
      close: wake,
    });
  }

  static connect(server: AhpServer<any>, options: MemoryPairOptions<any> = {}): RawAgent {
    const pair = createMemoryPair<any>(options);
    server.connect(pair.server);
    return new RawAgent(pair.client, pair.clientWire);
  }

  /** Connected, and the handshake is done. */
  static async ready(server: AhpServer<any>, options: MemoryPairOptions<any> = {}): Promise<RawAgent> {
    const agent = RawAgent.connect(server, options);
    await agent.call("ahp/handshake", handshake());
    return agent;
  }

  /** Sends a request; gives its answer. */
  async call(method: string, params?: unknown): Promise<Received> {
    const id = `r${++this.#lastId}`;
    await this.channel.send(request(id, method, params));
    return this.answer(id);
  }

  answer(id: unknown): Promise<Received> {
    return this.until((message) => message.id === id);
  }

  async tell(params: unknown): Promise<void> {
    await this.channel.send(notification("ahp/event", params));
  }

  /** The first message that fits, now or later. */
  async until(fits: (message: Received) => boolean): Promise<Received> {
    for (;;) {
      const found = this.received.find(fits);
      if (found) return found;
      if (this.channel.signal.aborted) throw new Error("the channel closed before the message came");
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  /** An answer to something that was sent behind all else: what was to come before is there. */
  async settled(): Promise<void> {
    await this.call("nothing");
  }
}
