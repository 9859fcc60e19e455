import { createHash } from "node:crypto";
import { callSafely, wait } from "@harnesskit/wire";
import type { Database } from "./database.ts";
import { toStoreError } from "./failures.ts";
import { openListener } from "./wake-listener.ts";

/** What a wake is about. */
export type WakeTopic = "approvals" | "ends" | "leases" | "threads" | "timeline";

/** Of the keys that are listened to, those that have changed since it was asked last. */
export type WakePoll = (keys: readonly string[]) => Promise<readonly string[]>;

export interface WakeStats {
  /** Whether other processes are heard at once; if not, they are noticed by the poll. */
  readonly isListening: boolean;
  readonly listeners: number;
  /** Notifications that this process has sent, and that it has received. */
  readonly sent: number;
  readonly received: number;
}

/** Keys of one notification: with their names' digests it stays within the 8000 bytes that PostgreSQL takes. */
const maxKeys = 400;
/** Stands for all keys of a topic. */
const anyKey = "*";

/** A name of fixed length for a key of any length and content. */
const wakeName = (key: string): string => createHash("sha256").update(key).digest("base64url").slice(0, 12);

interface Listener {
  readonly key: string;
  readonly call: () => void;
}

/**
 * How the processes of a schema learn what others have changed. What a process has changed is sent in one notification per interval, after the
 * commits and outside of them. One connection listens; whatever it misses, a poll finds. A wake says "look", never what there is.
 */
export class Wakes {
  readonly #database: Database;
  readonly #closing = new AbortController();
  readonly #changed = new Map<WakeTopic, Set<string>>();
  /** By topic and the name of the key. */
  readonly #listeners = new Map<WakeTopic, Map<string, Set<Listener>>>();
  readonly #polls = new Map<WakeTopic, WakePoll>();
  readonly #processId = crypto.randomUUID().slice(0, 8);
  #isSending = false;
  /** When the next notification may be sent. */
  #sendAtMs = 0;
  #isListening = false;
  #running: Promise<unknown> | undefined;
  #count = 0;
  #sent = 0;
  #received = 0;

  constructor(database: Database) {
    this.#database = database;
  }

  get stats(): WakeStats {
    return {
      isListening: this.#isListening,
      listeners: this.#count,
      sent: this.#sent,
      received: this.#received,
    };
  }

  /** How the poll asks about a topic. Without it, the topic's listeners ask on their own. */
  setPoll(topic: WakeTopic, poll: WakePoll): void {
    this.#polls.set(topic, poll);
  }

  /** Tells the listeners of this process now and those of others soon. Call it after the commit. */
  changed(topic: WakeTopic, key: string): void {
    if (this.#listeners.has(topic)) this.#fire(topic, [wakeName(key)]);
    const keys = this.#changed.get(topic) ?? new Set();
    this.#changed.set(topic, keys.add(key));
    if (this.#isSending || this.#closing.signal.aborted) return;
    this.#isSending = true;
    const { clock, limits } = this.#database.options;
    const delayMs = Math.min(limits.wakeIntervalMs, this.#sendAtMs - clock.elapsedMs());
    clock.after(Math.max(0, delayMs), () => {
      this.#sendAtMs = clock.elapsedMs() + limits.wakeIntervalMs;
      this.#isSending = false;
      void this.flush();
    });
  }

  /** Sends what is not told yet. Never rejects: what is not sent, the poll of the others finds. */
  async flush(): Promise<void> {
    if (this.#changed.size === 0) return;
    const topics = [...this.#changed].map(([topic, keys]) => [
      topic,
      keys.size > maxKeys / this.#changed.size ? [anyKey] : [...keys].map(wakeName),
    ]);
    this.#changed.clear();
    try {
      await this.#notify({ from: this.#processId, topics: Object.fromEntries(topics) });
      this.#sent++;
    } catch (error) {
      if (!this.#closing.signal.aborted) this.#database.options.onError(toStoreError(error));
    }
  }

  #notify(payload: object): Promise<unknown> {
    const { schema } = this.#database.options;
    return this.#database.query("SELECT pg_notify($1, $2)", schema, JSON.stringify(payload));
  }

  /** Calls `call` after each change of a key: soon, at the latest with the next poll, and sometimes without one. */
  listen(topic: WakeTopic, key: string, call: () => void): () => void {
    const listener: Listener = { key, call };
    const name = wakeName(key);
    const byName = this.#listeners.get(topic) ?? new Map<string, Set<Listener>>();
    this.#listeners.set(topic, byName);
    const listeners = byName.get(name) ?? new Set();
    byName.set(name, listeners.add(listener));
    this.#count++;
    this.#running ??= Promise.all([this.#listenOn(), this.#pollOn()]);
    return () => {
      if (!listeners.delete(listener)) return;
      this.#count--;
      if (listeners.size === 0 && byName.get(name) === listeners) byName.delete(name);
    };
  }

  #fire(topic: WakeTopic, names: readonly string[]): void {
    const byName = this.#listeners.get(topic);
    if (byName === undefined) return;
    const found = names.includes(anyKey) ? [...byName.values()] : names.map((name) => byName.get(name));
    for (const listeners of found) for (const { call } of [...(listeners ?? [])]) callSafely(call);
  }

  #receive(payload: string): void {
    let message: { from?: unknown; topics?: unknown };
    try {
      message = JSON.parse(payload);
    } catch {
      return;
    }
    if (message.from === this.#processId || typeof message.topics !== "object") return;
    this.#received++;
    for (const [topic, names] of Object.entries(message.topics ?? {})) {
      if (Array.isArray(names)) this.#fire(topic as WakeTopic, names);
    }
  }

  /** Keeps one connection that listens, for as long as the store is open. */
  async #listenOn(): Promise<void> {
    const { options } = this.#database;
    let isReported = false;
    for (let delayMs = 500; !this.#closing.signal.aborted; ) {
      const outcome = await openListener(options, {
        signal: this.#closing.signal,
        onMessage: (payload) => this.#receive(payload),
        test: (token) => this.#notify({ token }),
        onListening: () => {
          this.#isListening = true;
          isReported = false;
          delayMs = 500;
          // What happened since the last connection was not heard.
          void this.#pollNow();
        },
      });
      this.#isListening = false;
      if (this.#closing.signal.aborted) return;
      if (!isReported) options.onError(outcome);
      isReported = true;
      await wait(delayMs, options.clock, this.#closing.signal);
      delayMs = Math.min(delayMs * 2, options.limits.listenCheckMs);
    }
  }

  async #pollOn(): Promise<void> {
    const { clock, limits } = this.#database.options;
    while (!this.#closing.signal.aborted) {
      await wait(limits.wakePollMs, clock, this.#closing.signal);
      await this.#pollNow();
    }
  }

  async #pollNow(): Promise<void> {
    for (const [topic, byName] of this.#listeners) {
      const poll = this.#polls.get(topic);
      const keys = [...byName.values()].flatMap((listeners) =>
        [...listeners].slice(0, 1).map(({ key }) => key),
      );
      if (poll === undefined || keys.length === 0 || this.#closing.signal.aborted) continue;
      try {
        this.#fire(topic, (await poll(keys)).map(wakeName));
      } catch {
        // Asked again with the next poll; calls of users report what is wrong.
      }
    }
  }

  /** Sends what is not told yet, and ends the connection. Idempotent. */
  async close(): Promise<void> {
    await this.flush();
    this.#closing.abort();
    await this.#running;
  }
}
