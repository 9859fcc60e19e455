import type { AhpEvent } from "@harnesskit/protocol/ahp";
import { createDeferred, type Deferred } from "@harnesskit/wire";
import type { RpcConnection, SessionState } from "@harnesskit/wire/rpc";
import { AhpFailure, toFailure, wantsHandshake } from "./errors.ts";
import type { HarnessSession } from "./harness-session.ts";

interface Entry {
  readonly event: AhpEvent;
  /** The transport has it, and has not said what became of it. */
  isInHand: boolean;
  /** The harness wanted a handshake instead of it. */
  isRecovered: boolean;
}

/**
 * The notifications that wait or are in the transport's hands, in order and within a limit. Nothing that may have arrived is sent
 * twice; what is lost is reported.
 */
export class NotificationQueue {
  readonly #session: HarnessSession;
  readonly #maxSize: number;
  readonly #onLost: (event: AhpEvent, failure: AhpFailure) => void;
  readonly #entries = new Set<Entry>();
  #inHand = 0;
  /** Failures that are being mended; nothing is sent meanwhile. */
  #recovering = 0;
  #empty: Deferred<void> | undefined;

  /** @param onLost must not throw */
  constructor(
    session: HarnessSession,
    maxSize: number,
    onLost: (event: AhpEvent, failure: AhpFailure) => void,
  ) {
    this.#session = session;
    this.#maxSize = maxSize;
    this.#onLost = onLost;
  }

  /** Keeps the event until it can be sent. False where the client is closed: then it is lost. */
  add(event: AhpEvent): boolean {
    const entry = { event, isInHand: false, isRecovered: false };
    this.#entries.add(entry);
    this.changed(this.#session.state);
    this.#shrink();
    return this.#entries.has(entry);
  }

  /** The session's state has changed. */
  changed(state: SessionState): void {
    if (state === "ready") this.#sendWaiting();
    if (state !== "closed") return;
    const failure = new AhpFailure("closed", "the client is closed");
    for (const entry of this.#entries) this.#remove(entry, failure);
  }

  /** Settles when nothing waits. */
  whenEmpty(): Promise<void> {
    if (this.#entries.size === 0) return Promise.resolve();
    this.#empty ??= createDeferred<void>();
    return this.#empty.promise;
  }

  /** Sends what waits, as far as the connection takes it. */
  #sendWaiting(): void {
    const connection = this.#session.ready?.connection;
    if (!connection || this.#recovering > 0) return;
    const maxUnsettled = Math.min(this.#session.maxUnsettled, this.#maxSize);
    for (const entry of this.#entries) {
      if (this.#inHand >= maxUnsettled) return;
      if (!entry.isInHand) this.#send(entry, connection);
    }
  }

  #send(entry: Entry, connection: RpcConnection): void {
    entry.isInHand = true;
    this.#inHand++;
    connection.notify("ahp/event", entry.event).then(
      () => {
        this.#remove(entry);
        this.#sendWaiting();
      },
      (error: unknown) => void this.#failed(entry, connection, error),
    );
  }

  /** What the harness cannot have seen, or did not handle for want of a handshake, waits for its next turn. */
  async #failed(entry: Entry, connection: RpcConnection, error: unknown): Promise<void> {
    if (!this.#entries.has(entry)) return;
    const failure = toFailure(error);
    const isRecovered = wantsHandshake(error) && !entry.isRecovered;
    if (isRecovered || failure.code === "unreachable") {
      entry.isRecovered ||= isRecovered;
      entry.isInHand = false;
      this.#inHand--;
    } else this.#remove(entry, failure);
    this.#recovering++;
    this.#session.failed(connection, error);
    // What could not be mended is refused once more, and lost then.
    await this.#session.recover(error, connection, entry.event, {}).catch(() => {});
    this.#recovering--;
    this.#shrink();
    this.#sendWaiting();
  }

  /** Drops the oldest that wait until the rest is within the limit: the newest snapshot is the one that counts. */
  #shrink(): void {
    if (this.#entries.size <= this.#maxSize) return;
    const failure = new AhpFailure("overloaded", `maxBufferedNotifications of ${this.#maxSize} is reached`);
    for (const entry of this.#entries) {
      if (this.#entries.size <= this.#maxSize) return;
      if (!entry.isInHand) this.#remove(entry, failure);
    }
  }

  /** The entry was sent, or, with a failure, is lost. */
  #remove(entry: Entry, failure?: AhpFailure): void {
    if (!this.#entries.delete(entry)) return;
    if (entry.isInHand) this.#inHand--;
    if (failure) this.#onLost(entry.event, failure);
    if (this.#entries.size > 0) return;
    this.#empty?.resolve();
    this.#empty = undefined;
  }
}
