import { type Channel, createDeferred, type Deferred, HarnessError } from "@harnesskit/wire";
import type { AgentLimits } from "./limits.ts";

/** A message on its way out. */
export interface Outgoing {
  /** About what it takes, in bytes. */
  readonly bytes: number;
  /** A call's own stream, which has a limit of its own. */
  readonly isStream?: true;
  /** Makes the message. Called once, when its turn has come. */
  take(): object;
  /** Told when the channel does not take it (`frame_too_large`, `invalid_argument`), so that something else can be said. */
  onRefused?(): void;
}

/** What was handed over together and settles together. */
interface Handed {
  readonly settled: Promise<void>;
  readonly first: Outgoing;
  bytes: number;
}

const nothing = Promise.resolve();

/**
 * What leaves for the core, in order. Up to `maxSendBytes` are handed to the channel; the rest waits here, and who
 * writes much can wait for room.
 */
export class Outbox {
  readonly #channel: Channel;
  readonly #limits: AgentLimits;
  #waiting: Outgoing[] = [];
  #next = 0;
  #pendingBytes = 0;
  #handed: Handed | undefined;
  #room: Deferred<void> | undefined;
  #isClosed = false;
  /** The channel takes nothing more and is about to close. */
  #isBroken = false;
  #waitingReplies = 0;

  constructor(channel: Channel, limits: AgentLimits) {
    this.#channel = channel;
    this.#limits = limits;
  }

  /** True while a message would leave at once. */
  get isFree(): boolean {
    if (this.#isClosed) return true;
    if (this.#isBroken) return false;
    return this.#pendingBytes < this.#limits.maxSendBytes && this.#next === this.#waiting.length;
  }

  get waiting(): number {
    return this.#waiting.length - this.#next;
  }

  /** True when so many messages wait that are no stream that no more should be asked for. */
  get isOverfull(): boolean {
    return this.#waitingReplies > this.#limits.maxWaitingReplies;
  }

  push(message: Outgoing): void {
    if (this.#isClosed || this.#isBroken) return;
    if (this.isFree) {
      this.#hand(message);
      return;
    }
    this.#waiting.push(message);
    if (!message.isStream) this.#waitingReplies++;
  }

  /** Settles when what waits has left, or the channel is closed. Never rejects. */
  room(): Promise<void> {
    if (this.isFree) return nothing;
    this.#room ??= createDeferred<void>();
    return this.#room.promise;
  }

  /** The channel is closed: forgets everything and lets everybody go on. */
  close(): void {
    this.#isClosed = true;
    this.#waiting = [];
    this.#next = 0;
    this.#letGo();
  }

  #hand(message: Outgoing): void {
    const settled = this.#channel.send(message.take());
    this.#pendingBytes += message.bytes;
    const handed = this.#handed;
    if (handed?.settled === settled) {
      handed.bytes += message.bytes;
      return;
    }
    const record: Handed = { settled, first: message, bytes: message.bytes };
    this.#handed = record;
    settled.then(
      () => this.#settled(record),
      (error: unknown) => this.#failed(record, error),
    );
  }

  #settled(record: Handed): void {
    this.#pendingBytes -= record.bytes;
    if (this.#handed === record) this.#handed = undefined;
    this.#pump();
  }

  /** A message that is refused has a promise of its own, so that it is the only one in its record. */
  #failed(record: Handed, error: unknown): void {
    const code = HarnessError.isInstance(error) ? error.code : undefined;
    if (code === "frame_too_large" || code === "invalid_argument") {
      this.#settled(record);
      record.first.onRefused?.();
      return;
    }
    this.#isBroken = true;
    this.#waiting = [];
    this.#next = 0;
    if (code !== "connection_closed") {
      const cause = HarnessError.isInstance(error)
        ? error
        : new HarnessError("send_failed", "a message could not be sent", { cause: error });
      void this.#channel.close(cause);
    }
  }

  #pump(): void {
    if (this.#isBroken) return;
    while (this.#pendingBytes < this.#limits.maxSendBytes) {
      const message = this.#waiting[this.#next];
      if (!message) break;
      this.#next++;
      if (!message.isStream) this.#waitingReplies--;
      this.#hand(message);
    }
    if (this.#next === this.#waiting.length) {
      this.#waiting = [];
      this.#next = 0;
      if (this.isFree) this.#letGo();
    } else if (this.#next > 1024) {
      this.#waiting = this.#waiting.slice(this.#next);
      this.#next = 0;
    }
  }

  #letGo(): void {
    const room = this.#room;
    this.#room = undefined;
    room?.resolve();
  }
}
