import type { AhpEvent } from "@harnesskit/protocol/ahp";
import { type Clock, createDeferred, type Deferred } from "@harnesskit/wire";
import { utf8Length } from "@harnesskit/wire/json";
import type { SessionState } from "@harnesskit/wire/rpc";
import type { AhpClientLimits, NotificationReceipt } from "./client-options.ts";
import { type AhpFailure, toFailure, wantsHandshake } from "./errors.ts";
import { toHarnessLimits } from "./harness-rules.ts";
import type { HarnessSession, ReadyLine } from "./harness-session.ts";
import { type LossReport, mergeLosses, toErrorPayload } from "./losses.ts";

export interface OutboxOptions extends AhpClientLimits {
  readonly session: HarnessSession;
  readonly clock: Clock;
  readonly handshakeTimeoutMs: () => number;
  /** Makes the `error` event that reports losses to the harness; undefined where they are not reported. */
  readonly makeReport: ((payload: unknown) => AhpEvent) | undefined;
  /** Must not throw. */
  readonly onLoss: (losses: LossReport) => void;
}

/** A notification as it was when it was added, whatever becomes of the objects that it was made of. */
interface Entry {
  readonly type: string;
  readonly text: string;
  readonly bytes: number;
  /** The transport has it, and has not said what became of it. */
  isInHand: boolean;
  /** The harness wanted a handshake instead of it. */
  isRenewed: boolean;
}

const allow = Object.freeze({ decision: "allow" } as const);

/**
 * The notifications that wait or are in the transport's hands, in order and within limits, and the count of those that
 * were lost, which both sides learn. Nothing that may have arrived is sent twice.
 */
export class NotificationOutbox {
  readonly #options: OutboxOptions;
  readonly #entries = new Set<Entry>();
  #inHand = 0;
  #bytes = 0;
  #sent = 0;
  #lost = 0;
  /** How many failures are being mended; nothing is sent meanwhile. */
  #mending = 0;
  #empty: Deferred<void> | undefined;
  #unreportedLocally: LossReport | undefined;
  #unreportedToHarness: LossReport | undefined;
  #isScheduled = false;
  #isReporting = false;

  constructor(options: OutboxOptions) {
    this.#options = options;
  }

  get counts() {
    return {
      notificationsSent: this.#sent,
      notificationsBuffered: this.#entries.size,
      notificationsLost: this.#lost,
    };
  }

  /** Keeps the event until it can be sent, or drops and counts it. */
  add(event: AhpEvent): NotificationReceipt {
    const { state, harness } = this.#options.session;
    const { event_type: type, depth } = event;
    const text = JSON.stringify(event);
    const entry = { type, text, bytes: utf8Length(text), isInHand: false, isRenewed: false };
    const isTooDeep = depth > toHarnessLimits(harness?.config).maxDepth;
    if (state === "closed" || isTooDeep) {
      this.lose(entry, state === "closed" ? "closed" : "depth_exceeded");
    } else {
      this.#entries.add(entry);
      this.#bytes += entry.bytes;
      this.#pump();
      this.#shrink();
    }
    return { decision: allow, accepted: this.#entries.has(entry) };
  }

  /** Counts a notification that is not sent, and reports it soon: the losses of one moment together. */
  lose({ type, bytes }: Pick<Entry, "type" | "bytes">, reason: string, message?: string): void {
    const now = this.#options.clock.now();
    const loss = {
      count: 1,
      bytes,
      byType: { [type]: 1 },
      byReason: { [reason]: 1 },
      messages: message === undefined ? {} : { [reason]: message },
      since: now,
      until: now,
    };
    this.#lost++;
    this.#unreportedLocally = mergeLosses(this.#unreportedLocally, loss);
    // The harness knows what it refused.
    if (reason !== "harness_error") this.#unreportedToHarness = mergeLosses(this.#unreportedToHarness, loss);
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    queueMicrotask(() => {
      this.#isScheduled = false;
      this.#reportLosses();
    });
  }

  /** The session's state has changed. */
  changed(state: SessionState): void {
    if (state === "ready") this.#pump();
    if (state === "closed") {
      for (const entry of this.#entries) this.#remove(entry, "closed");
    }
    this.#reportLosses();
  }

  /** Settles when nothing waits. */
  whenEmpty(): Promise<void> {
    if (this.#entries.size === 0) return Promise.resolve();
    this.#empty ??= createDeferred<void>();
    return this.#empty.promise;
  }

  /** Sends what waits, as far as the line takes it. */
  #pump(): void {
    const { session, maxBufferedNotifications } = this.#options;
    const { ready } = session;
    if (!ready || this.#mending > 0) return;
    const window = Math.min(ready.connection.window, maxBufferedNotifications);
    for (const entry of this.#entries) {
      if (this.#inHand >= window) return;
      if (!entry.isInHand) this.#send(entry, ready);
    }
  }

  #send(entry: Entry, ready: ReadyLine): void {
    entry.isInHand = true;
    this.#inHand++;
    const event = JSON.parse(entry.text) as AhpEvent;
    ready.connection.notify("ahp/event", event).then(
      () => {
        if (!this.#entries.has(entry)) return;
        this.#sent++;
        this.#remove(entry);
        this.#pump();
      },
      (error: unknown) => void this.#failed(entry, event, ready, toFailure(error)),
    );
  }

  /** What the harness cannot have seen, or did not handle for want of a handshake, waits for its next turn. */
  async #failed(entry: Entry, event: AhpEvent, ready: ReadyLine, failure: AhpFailure): Promise<void> {
    if (!this.#entries.has(entry)) return;
    const { session, handshakeTimeoutMs } = this.#options;
    const needsHandshake = wantsHandshake(failure);
    const isRenewal = needsHandshake && !entry.isRenewed;
    if (isRenewal || failure.code === "unreachable") {
      entry.isRenewed ||= isRenewal;
      entry.isInHand = false;
      this.#inHand--;
    } else this.#remove(entry, failure.code, failure.message);
    this.#mending++;
    session.failed(ready, failure);
    // What could not be renewed is refused once more, and counted then.
    if (needsHandshake) {
      await session.renew(ready, [event], { timeoutMs: handshakeTimeoutMs() }).catch(() => {});
    }
    this.#mending--;
    this.#shrink();
    this.#pump();
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
    if (reason !== undefined) this.lose(entry, reason, message);
    if (this.#entries.size > 0) return;
    this.#empty?.resolve();
    this.#empty = undefined;
  }

  /** While reconnecting the count goes on; it is reported when that is over, however it ends. */
  #reportLosses(): void {
    const { session, onLoss } = this.#options;
    if (session.state === "reconnecting") return;
    this.#reportToHarness();
    const losses = this.#unreportedLocally;
    this.#unreportedLocally = undefined;
    if (losses) onLoss(losses);
  }

  /** Reports to the harness; one report at a time, beside the notifications, of which there may be too many. */
  #reportToHarness(): void {
    const { session, makeReport } = this.#options;
    const losses = this.#unreportedToHarness;
    if (!session.ready || !makeReport || this.#isReporting || !losses) return;
    this.#unreportedToHarness = undefined;
    this.#isReporting = true;
    session.ready.connection.notify("ahp/event", makeReport(toErrorPayload(losses))).then(
      () => {
        this.#isReporting = false;
        this.#reportToHarness();
      },
      (error: unknown) => {
        this.#isReporting = false;
        const failure = toFailure(error);
        // Tried again with the next loss, or over the next connection.
        if (failure.code === "harness_error" && !wantsHandshake(failure)) return;
        this.#unreportedToHarness = mergeLosses(this.#unreportedToHarness, losses);
      },
    );
  }
}
