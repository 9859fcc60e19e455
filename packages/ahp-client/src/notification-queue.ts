import type { AhpEvent } from "@harnesskit/protocol/ahp";
import { type Clock, createDeferred, type Deferred } from "@harnesskit/wire";
import { utf8Length } from "@harnesskit/wire/json";
import type { SessionState } from "@harnesskit/wire/rpc";
import type { AhpClientLimits } from "./client-options.ts";
import type { HarnessConnection } from "./connections.ts";
import { toFailure, wantsHandshake } from "./errors.ts";
import type { HarnessSession } from "./harness-session.ts";
import { type LossReport, mergeLosses, toErrorPayload } from "./loss-report.ts";

export interface NotificationQueueOptions extends AhpClientLimits {
  readonly session: HarnessSession;
  readonly clock: Clock;
  /** Makes the `error` event that reports losses to the harness; undefined where they are not reported. */
  readonly makeReport: ((payload: unknown) => AhpEvent) | undefined;
  /** Must not throw. */
  readonly onLoss: (losses: LossReport) => void;
}

interface Entry {
  readonly event: AhpEvent;
  readonly bytes: number;
  /** The transport has it, and has not said what became of it. */
  isInHand: boolean;
  /** The harness wanted a handshake instead of it. */
  isRecovered: boolean;
}

/**
 * The notifications that wait or are in the transport's hands, in order and within limits, and the count of those that
 * were lost, which is reported to both sides. Nothing that may have arrived is sent twice.
 */
export class NotificationQueue {
  readonly #options: NotificationQueueOptions;
  readonly #entries = new Set<Entry>();
  #inHand = 0;
  #bytes = 0;
  #sent = 0;
  #lost = 0;
  /** Failures that are being mended; nothing is sent meanwhile. */
  #recovering = 0;
  #empty: Deferred<void> | undefined;
  #unreported: LossReport | undefined;
  #unreportedToHarness: LossReport | undefined;
  #isScheduled = false;
  #isReporting = false;

  constructor(options: NotificationQueueOptions) {
    this.#options = options;
  }

  get counts() {
    return {
      notificationsSent: this.#sent,
      notificationsBuffered: this.#entries.size,
      notificationsLost: this.#lost,
    };
  }

  /** Keeps the event until it can be sent. False where it is dropped and counted. */
  add(event: AhpEvent): boolean {
    const entry = {
      event,
      bytes: utf8Length(JSON.stringify(event)),
      isInHand: false,
      isRecovered: false,
    };
    this.#entries.add(entry);
    this.#bytes += entry.bytes;
    if (this.#options.session.state === "closed") this.#remove(entry, "closed");
    else {
      this.#sendWaiting();
      this.#shrink();
    }
    return this.#entries.has(entry);
  }

  /** Counts a notification that is not sent, and reports it soon: the losses of one moment together. */
  lose(type: string, bytes: number, reason: string, message?: string): void {
    const now = this.#options.clock.now();
    const loss: LossReport = {
      count: 1,
      bytes,
      byType: { [type]: 1 },
      byReason: { [reason]: 1 },
      messages: message === undefined ? {} : { [reason]: message },
      since: now,
      until: now,
    };
    this.#lost++;
    this.#unreported = mergeLosses(this.#unreported, loss);
    // The harness knows what it refused.
    if (reason !== "harness_error") this.#unreportedToHarness = mergeLosses(this.#unreportedToHarness, loss);
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    queueMicrotask(() => {
      this.#isScheduled = false;
      this.#report();
    });
  }

  /** The session's state has changed. */
  changed(state: SessionState): void {
    if (state === "ready") this.#sendWaiting();
    if (state === "closed") for (const entry of this.#entries) this.#remove(entry, "closed");
    this.#report();
  }

  /** Settles when nothing waits. */
  whenEmpty(): Promise<void> {
    if (this.#entries.size === 0) return Promise.resolve();
    this.#empty ??= createDeferred<void>();
    return this.#empty.promise;
  }

  /** Sends what waits, as far as the connection takes it. */
  #sendWaiting(): void {
    const { session, maxBufferedNotifications } = this.#options;
    const connection = session.ready?.connection;
    if (!connection || this.#recovering > 0) return;
    const maxUnsettled = Math.min(session.maxUnsettled, maxBufferedNotifications);
    for (const entry of this.#entries) {
      if (this.#inHand >= maxUnsettled) return;
      if (!entry.isInHand) this.#send(entry, connection);
    }
  }

  #send(entry: Entry, connection: HarnessConnection): void {
    entry.isInHand = true;
    this.#inHand++;
    connection.notify("ahp/event", entry.event).then(
      () => {
        if (!this.#entries.has(entry)) return;
        this.#sent++;
        this.#remove(entry);
        this.#sendWaiting();
      },
      (error: unknown) => void this.#failed(entry, connection, error),
    );
  }

  /** What the harness cannot have seen, or did not handle for want of a handshake, waits for its next turn. */
  async #failed(entry: Entry, connection: HarnessConnection, error: unknown): Promise<void> {
    if (!this.#entries.has(entry)) return;
    const { session } = this.#options;
    const failure = toFailure(error);
    const isRecovered = wantsHandshake(error) && !entry.isRecovered;
    if (isRecovered || failure.code === "unreachable") {
      entry.isRecovered ||= isRecovered;
      entry.isInHand = false;
      this.#inHand--;
    } else this.#remove(entry, failure.code, failure.message);
    this.#recovering++;
    session.failed(connection, error);
    // What could not be mended is refused once more, and counted then.
    await session.recover(error, connection, [entry.event], {}).catch(() => {});
    this.#recovering--;
    this.#shrink();
    this.#sendWaiting();
  }

  /** Drops the oldest that wait until the rest is within the limits: the newest snapshot is the one that counts. */
  #shrink(): void {
    const { maxBufferedNotifications, maxBufferedBytes } = this.#options;
    for (const entry of this.#entries) {
      if (this.#entries.size <= maxBufferedNotifications && this.#bytes <= maxBufferedBytes) return;
      if (!entry.isInHand) this.#remove(entry, "overflow");
    }
  }

  /** The entry was sent, or, with a reason, is lost. */
  #remove(entry: Entry, reason?: string, message?: string): void {
    this.#entries.delete(entry);
    if (entry.isInHand) this.#inHand--;
    this.#bytes -= entry.bytes;
    if (reason !== undefined) this.lose(entry.event.event_type, entry.bytes, reason, message);
    if (this.#entries.size > 0) return;
    this.#empty?.resolve();
    this.#empty = undefined;
  }

  /** While reconnecting the count goes on; it is reported when that is over, however it ends. */
  #report(): void {
    if (this.#options.session.state === "reconnecting") return;
    this.#reportToHarness();
    const losses = this.#unreported;
    this.#unreported = undefined;
    if (losses) this.#options.onLoss(losses);
  }

  /** Reports to the harness; one report at a time, beside the notifications, of which there may be too many. */
  #reportToHarness(): void {
    const { session, makeReport } = this.#options;
    const losses = this.#unreportedToHarness;
    const connection = session.ready?.connection;
    if (!connection || !makeReport || this.#isReporting || !losses) return;
    this.#unreportedToHarness = undefined;
    this.#isReporting = true;
    connection.notify("ahp/event", makeReport(toErrorPayload(losses))).then(
      () => {
        this.#isReporting = false;
        this.#reportToHarness();
      },
      (error: unknown) => {
        this.#isReporting = false;
        if (toFailure(error).code === "harness_error" && !wantsHandshake(error)) return;
        // Tried again with the next loss, or over the next connection.
        const since = this.#unreportedToHarness;
        this.#unreportedToHarness = since ? mergeLosses(losses, since) : losses;
      },
    );
  }
}
