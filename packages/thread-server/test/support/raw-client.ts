import type { Event, EventName, EventOf, ThreadNotificationName } from "@harnesskit/protocol/threads";
import type { Channel } from "@harnesskit/wire";
import { createMemoryPair, type MemoryWire } from "@harnesskit/wire/testing";
import type { ThreadServer } from "../../src/index.ts";

/** A message as it arrived, of whatever kind. */
export interface Received {
  id?: string | number | null;
  result?: any;
  error?: { code: number; message: string; data?: Record<string, unknown> };
  method?: string;
  params?: any;
}

/** A client with no code of ours above the channel: it sees every message in the order of its arrival. */
export class RawClient {
  readonly received: Received[] = [];
  readonly closed: Channel["closed"];
  #waiting: (() => void)[] = [];
  #lastId = 0;

  constructor(
    readonly channel: Channel,
    readonly wire: MemoryWire,
  ) {
    this.closed = channel.closed;
    channel.start({
      message: (message) => {
        this.received.push(message as Received);
        for (const wake of this.#waiting.splice(0)) wake();
      },
      error: () => {},
      close: () => {
        for (const wake of this.#waiting.splice(0)) wake();
      },
    });
  }

  static connect(server: ThreadServer): RawClient {
    const { client, server: side, clientWire } = createMemoryPair();
    server.connect(side);
    return new RawClient(client, clientWire);
  }

  /** Sends a request; gives its answer. */
  async call(method: string, params?: unknown): Promise<Received> {
    const id = ++this.#lastId;
    await this.channel.send({ jsonrpc: "2.0", id, method, ...(params === undefined ? {} : { params }) });
    return this.until((message) => message.id === id && message.method === undefined);
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

  notification(
    method: ThreadNotificationName,
    fits: (params: Received["params"]) => boolean = () => true,
  ): Promise<Received> {
    return this.until((message) => message.method === method && fits(message.params));
  }

  /** The notifications of one name so far, without their number and time. */
  all(method: ThreadNotificationName): Received["params"][] {
    return this.told.filter((message) => message.type === method).map(({ data }) => data);
  }

  /** The notifications so far as events of the log have them: without number and time. */
  get told(): { type: string; data: Received["params"] }[] {
    return this.received.flatMap(({ method, params }) => {
      if (method === undefined) return [];
      const { seq: _seq, time: _time, ...data } = params;
      return [{ type: method, data }];
    });
  }

  async createThread(): Promise<string> {
    const { result } = await this.call("thread.create", {});
    return result.thread.threadId;
  }

  startTurn(threadId: string, text = "go", more: object = {}): Promise<Received> {
    return this.call("turn.start", { threadId, input: [{ type: "text", text }], ...more });
  }

  /** Runs a turn to its end, and gives that. */
  async runTurn(threadId?: string, text?: string, more?: object): Promise<Received> {
    const { result } = await this.startTurn(threadId ?? (await this.createThread()), text, more);
    return this.turnEnd(result.turnId);
  }

  answer(requestId: string, decision = "once", more: object = {}): Promise<Received> {
    return this.call("approval.respond", { requestId, decision, ...more });
  }

  /** Waits for the end of a turn. */
  async turnEnd(turnId: string): Promise<Received> {
    return this.until(
      ({ method, params }) =>
        (method === "turn.completed" || method === "turn.error") && params.turnId === turnId,
    );
  }

  /** The completed items of one type so far, their data. */
  items(type: string): Record<string, unknown>[] {
    return this.all("item.completed")
      .filter(({ item }) => item.type === type)
      .map(({ item }) => item.data);
  }

  async events(threadId: string): Promise<Event[]> {
    return (await this.call("thread.get", { threadId })).result.events;
  }
}

/** The events of one type. */
export const ofType = <N extends EventName>(events: readonly Event[], type: N): EventOf<N>[] =>
  events.filter((event): event is EventOf<N> & Event => event.type === type);
