import { append, defineGraph, defineState, END, type GraphStore, lastWriteWins } from "@harnesskit/graph";
import { openSqliteStore } from "@harnesskit/store-sqlite";
import type { Clock } from "@harnesskit/wire";
import { nextTurn } from "../../../../test-kit/test-kit.ts";
import { type ChatHarness, createChatHarness, messagesField } from "../../src/index.ts";
import type { ChatFields } from "../../src/messages-field.ts";
import { type At, ChatClient, createStoryGraph, type Ledger, namedStore } from "./shared.ts";

export const leaseTtlMs = 10_000;
export const leasePollMs = 500;

/** What the clients know together: their ledgers, who listens, and how far they are. */
export interface Evidence {
  next: number;
  readonly listening: string[];
  readonly ledgers: Readonly<Record<string, Ledger>>;
}

/** One thing that a client does. Done again, from the beginning, when it was not acknowledged. */
export interface Step {
  readonly name: string;
  run(cast: Cast): Promise<void>;
}

export interface CastOptions {
  readonly file: string;
  readonly clock: Clock;
  readonly sessionIds: readonly string[];
  /** What the clients know of earlier lives. @default nothing */
  readonly evidence?: Evidence;
  /** Told of each moment. @default nobody is told */
  readonly at?: At;
  /** Told when the store is closed. @default nobody is told */
  readonly onClosed?: () => void;
  /** What the harness has in place of the store. @default the store itself */
  readonly disturb?: (store: GraphStore) => GraphStore;
}

interface Life {
  readonly store: GraphStore;
  readonly harness: ChatHarness<ChatFields>;
  readonly unsubscribe: Map<string, () => void>;
}

/** The clients of a story and the process that serves them, which is this one. */
export class Cast {
  readonly evidence: Evidence;
  readonly clients: Readonly<Record<string, ChatClient>>;
  /** What clients have found wrong while they were told something. */
  readonly broken: unknown[] = [];
  readonly #options: CastOptions;
  readonly #at: At;
  /** Also where no harness came to be over it. */
  #store: GraphStore | undefined;
  #life: Life | undefined;
  #ids = 0;

  constructor(options: CastOptions) {
    const { sessionIds, evidence } = options;
    this.#options = options;
    this.#at = options.at ?? (() => {});
    const entries = sessionIds.map((id) => [id, new ChatClient(id, evidence?.ledgers[id])] as const);
    this.clients = Object.fromEntries(entries);
    this.evidence = {
      next: evidence?.next ?? 0,
      listening: [...(evidence?.listening ?? sessionIds)],
      ledgers: Object.fromEntries(entries.map(([id, { ledger }]) => [id, ledger])),
    };
  }

  get #here(): Life {
    if (this.#life === undefined) throw new Error("no process runs");
    return this.#life;
  }

  get harness(): ChatHarness<ChatFields> {
    return this.#here.harness;
  }

  get store(): GraphStore {
    return this.#here.store;
  }

  /** A process begins: opens the store, and listens where it did. `inspect` sees what was left before anybody works with it. */
  async begin<T>(inspect: (store: GraphStore) => Promise<T>): Promise<T> {
    const { file, clock, disturb = (store) => store } = this.#options;
    const at = this.#at;
    // A process that is killed takes nothing out of the page cache, so nobody has to wait for the disk.
    const opened = await openSqliteStore({ file, clock, limits: { leasePollMs }, sync: "none" });
    const store = disturb(namedStore(opened, at));
    this.#store = store;
    at("opened");
    const found = await inspect(store);
    const clients = Object.values(this.clients);
    const life = (clients[0]?.ledger.life ?? 0) + 1;
    const harness = createChatHarness({
      graph: createStoryGraph({ append, defineGraph, defineState, END, lastWriteWins, messagesField }, at),
      store,
      clock,
      session: { leaseTtlMs },
      createId: () => `i${life}-${++this.#ids}`,
      onTurn: () => at("the turn is reported"),
    });
    for (const client of clients) {
      client.beginLife({
        send: (id, content) => harness.send(id, { role: "user", content }),
        signal: (signal) => harness.signal(signal),
        pending: (id) => harness.pending(id),
      });
    }
    this.#life = { store, harness, unsubscribe: new Map() };
    for (const id of this.evidence.listening) this.#subscribe(id);
    await nextTurn(3);
    return found;
  }

  #subscribe(sessionId: string): void {
    const { harness, unsubscribe } = this.#here;
    const stop = harness.subscribe(sessionId, (turn, delivery) => {
      this.#at("before the listener");
      try {
        this.clients[sessionId]?.hear(turn, delivery);
      } catch (error) {
        this.broken.push(error);
      }
      this.#at("after the listener");
    });
    unsubscribe.set(sessionId, stop);
  }

  async listen(sessionId: string): Promise<void> {
    if (!this.evidence.listening.includes(sessionId)) {
      this.evidence.listening.push(sessionId);
      this.#subscribe(sessionId);
    }
    await nextTurn(3);
  }

  async unlisten(sessionId: string): Promise<void> {
    const { listening } = this.evidence;
    if (listening.includes(sessionId)) listening.splice(listening.indexOf(sessionId), 1);
    this.#here.unsubscribe.get(sessionId)?.();
  }

  /** The process ends in good order. */
  async end(): Promise<void> {
    await this.harness.close();
    await this.store.close();
    this.#options.onClosed?.();
    this.#life = undefined;
  }

  /** Whatever runs or waits comes to its end now. */
  async stop(): Promise<void> {
    await this.#store?.close();
    await this.#life?.harness.close();
    this.#options.onClosed?.();
  }

  /** Another process takes the place of this one. */
  async restart(): Promise<void> {
    await this.end();
    this.#at("closed");
    this.#options.onClosed?.();
    await this.begin(async () => {});
    await this.harness.recover();
  }

  /** Does what is left of the steps. */
  async tell(steps: readonly Step[]): Promise<void> {
    for (const { name, run } of steps.slice(this.evidence.next)) {
      this.#at(`before ${name}`);
      await run(this);
      this.evidence.next++;
      this.#at(`after ${name}`);
      await nextTurn(3);
      const [first] = this.broken;
      if (first !== undefined) throw first;
    }
  }
}
