import type { AhpEvent } from "@harnesskit/protocol/ahp";
import { createDeferred, type Deferred } from "@harnesskit/wire";
import { type AhpFailure, toFailure, wantsHandshake } from "./errors.ts";
import type { ReadyLine } from "./link.ts";
import type { Loss } from "./losses.ts";

export interface NotificationQueueOptions {
  readonly maxBufferedNotifications: number;
  readonly maxBufferedBytes: number;
  /** The line to send over; undefined while there is none. */
  readonly ready: () => ReadyLine | undefined;
  /** A line failed under a notification. Nothing more is sent until it settles; it never rejects. */
  readonly mend: (ready: ReadyLine, failure: AhpFailure, event: AhpEvent) => Promise<void>;
  /** Told of each notification that is lost, with the reason of a `LossReport`. */
  readonly onLost: (loss: Loss, reason: string, message?: string) => void;
}

/** A notification as it was when it was told, whatever becomes of the objects that it was made of. */
interface Entry extends Loss {
  readonly order: number;
  readonly text: string;
  /** The harness wanted a handshake instead of it. */
  isRenewed: boolean;
}

const encoder = new TextEncoder();

/** How many bytes a text has in a message. */
export const bytesOf = (text: string): number => encoder.encode(text).length;

/** The notifications that wait, in order, and those in the transport's hands. Nothing that may have arrived is sent twice. */
export class NotificationQueue {
  readonly #options: NotificationQueueOptions;
  readonly #waiting: Entry[] = [];
  readonly #inHand = new Set<Entry>();
  #bytes = 0;
  #order = 0;
  #sent = 0;
  /** How many failures are being mended. */
  #mending = 0;
  #empty: Deferred<void> | undefined;

  constructor(options: NotificationQueueOptions) {
    this.#options = options;
  }

  /** Notifications that the transport took. */
  get sent(): number {
    return this.#sent;
  }

  /** Notifications that wait, the ones in the transport's hands among them. */
  get size(): number {
    return this.#waiting.length + this.#inHand.size;
  }

  /** Takes a notification, and sends it if it can be. False when it was dropped at once. */
  add(event: AhpEvent): boolean {
    const text = JSON.stringify(event);
    const bytes = bytesOf(text);
    const entry = { order: ++this.#order, type: event.event_type, text, bytes, isRenewed: false };
    this.#waiting.push(entry);
    this.#bytes += bytes;
    this.pump();
    this.#shrink();
    return this.#waiting.at(-1) === entry || this.#inHand.has(entry);
  }

  /** Sends what waits, as far as the line takes it. */
  pump(): void {
    const ready = this.#options.ready();
    if (!ready || this.#mending > 0) return;
    const window = Math.min(ready.line.window, this.#options.maxBufferedNotifications);
    while (this.#inHand.size < window) {
      const entry = this.#waiting.shift();
      if (!entry) return;
      this.#inHand.add(entry);
      const event = JSON.parse(entry.text) as AhpEvent;
      ready.line.notify("ahp/event", event).then(
        () => this.#settled(entry),
        (error: unknown) => this.#failed(entry, event, ready, toFailure(error)),
      );
    }
  }

  /** Settles when nothing waits. */
  whenEmpty(): Promise<void> {
    if (this.size === 0) return Promise.resolve();
    this.#empty ??= createDeferred<void>();
    return this.#empty.promise;
  }

  /** Gives up what waits, and what is in the transport's hands. */
  clear(reason: string): void {
    for (const entry of [...this.#inHand, ...this.#waiting.splice(0)]) this.#options.onLost(entry, reason);
    this.#inHand.clear();
    this.#bytes = 0;
    this.#tellEmpty();
  }

  #settled(entry: Entry): void {
    if (!this.#inHand.delete(entry)) return;
    this.#bytes -= entry.bytes;
    this.#sent++;
    this.pump();
    this.#tellEmpty();
  }

  /** What the harness cannot have seen, or did not handle for want of a handshake, waits for its next turn. */
  #failed(entry: Entry, event: AhpEvent, ready: ReadyLine, failure: AhpFailure): void {
    if (!this.#inHand.delete(entry)) return;
    const isRenewal = wantsHandshake(failure) && !entry.isRenewed;
    if (isRenewal || failure.code === "unreachable") {
      entry.isRenewed ||= isRenewal;
      this.#putBack(entry);
    } else {
      this.#bytes -= entry.bytes;
      this.#options.onLost(entry, failure.code, failure.message);
    }
    this.#mending++;
    void this.#options.mend(ready, failure, event).then(() => {
      this.#mending--;
      this.#shrink();
      this.pump();
      this.#tellEmpty();
    });
  }

  #putBack(entry: Entry): void {
    const behind = this.#waiting.findIndex(({ order }) => order > entry.order);
    this.#waiting.splice(behind < 0 ? this.#waiting.length : behind, 0, entry);
  }

  /** Drops the oldest that wait until the rest is within the limits: the newest snapshot is the one that counts. */
  #shrink(): void {
    const { maxBufferedNotifications, maxBufferedBytes } = this.#options;
    while (this.size > maxBufferedNotifications || this.#bytes > maxBufferedBytes) {
      const oldest = this.#waiting.shift();
      if (!oldest) return;
      this.#bytes -= oldest.bytes;
      this.#options.onLost(oldest, "overflow");
    }
  }

  #tellEmpty(): void {
    if (this.size > 0) return;
    this.#empty?.resolve();
    this.#empty = undefined;
  }
}
