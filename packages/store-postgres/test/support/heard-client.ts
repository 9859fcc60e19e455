import type { Event } from "@harnesskit/protocol/threads";
import type { ThreadServer } from "@harnesskit/thread-server";
import type { Channel } from "@harnesskit/wire";
import { createMemoryPair } from "@harnesskit/wire/testing";
import { vi } from "vitest";

type Values = Record<string, unknown>;

/** A message as it arrived. */
export interface Heard {
  readonly id?: number;
  readonly method?: string;
  readonly params?: Values & { readonly seq?: number };
  readonly result?: Values;
  readonly error?: { readonly code: number; readonly data?: Values };
}

/** A client of a server of this process, with no code of ours above the channel: it keeps every message in the order of its arrival. */
export class HeardClient {
  readonly heard: Heard[] = [];
  readonly #channel: Channel;
  #lastId = 0;

  constructor(server: ThreadServer) {
    const { client, server: side } = createMemoryPair();
    server.connect(side);
    this.#channel = client;
    client.start({
      message: (message) => {
        this.heard.push(message as Heard);
      },
      error() {},
      close() {},
    });
  }

  /** The first message that fits, now or later. */
  async until(fits: (message: Heard) => boolean): Promise<Heard> {
    return vi.waitFor(
      () => {
        const found = this.heard.find(fits);
        if (found === undefined) throw new RangeError("the message has not come");
        return found;
      },
      { timeout: 20_000, interval: 10 },
    );
  }

  async call(method: string, params: object): Promise<Heard> {
    const id = ++this.#lastId;
    await this.#channel.send({ jsonrpc: "2.0", id, method, params });
    return this.until((message) => message.id === id && message.method === undefined);
  }

  startTurn(threadId: string): Promise<Heard> {
    return this.call("turn.start", { threadId, input: [{ type: "text", text: "go" }] });
  }

  async createThread(): Promise<string> {
    const { result } = await this.call("thread.create", {});
    const { threadId } = (result as { readonly thread: { readonly threadId: string } }).thread;
    return threadId;
  }

  notification(method: string, fits: (params: Values) => boolean = () => true): Promise<Heard> {
    return this.until((message) => message.method === method && fits(message.params ?? {}));
  }

  /** The end of a turn. */
  turnEnd(turnId: unknown): Promise<Heard> {
    const ends = ["turn.completed", "turn.error"];
    return this.until(({ method, params }) => ends.includes(method ?? "") && params?.turnId === turnId);
  }

  /** What the notifications of one name said so far. */
  all(method: string): Values[] {
    return this.heard.flatMap((message) => (message.method === method ? [message.params ?? {}] : []));
  }

  /** The numbers of the events that were heard. */
  get seqs(): number[] {
    return this.heard.flatMap(({ params }) => (typeof params?.seq === "number" ? [params.seq] : []));
  }

  async events(threadId: string): Promise<Event[]> {
    const { result } = await this.call("thread.get", { threadId });
    return result?.events as Event[];
  }
}
