import type { AhpEvent, AhpEventType } from "@harnesskit/protocol/ahp";
import type { Clock } from "@harnesskit/wire";
import type { NotificationReceipt } from "./client-options.ts";
import { type AhpFailure, isLoss, toFailure, wantsHandshake } from "./errors.ts";
import { type AhpClientLimits, toHarnessLimits } from "./limits.ts";
import type { ClientState, Link, ReadyLine } from "./link.ts";
import { type Loss, LossCount, type LossReport } from "./losses.ts";
import { bytesOf, NotificationQueue } from "./notification-queue.ts";
import type { Origin, Renewals } from "./renewals.ts";

export interface NotifierOptions extends AhpClientLimits {
  readonly link: Link;
  readonly renewals: Renewals;
  readonly clock: Clock;
  readonly handshakeTimeoutMs: () => number;
  /** Makes the `error` event that tells the harness of losses; undefined where it is not told. */
  readonly makeReport: ((payload: unknown) => AhpEvent) | undefined;
  /** Must not throw. */
  readonly onLoss: (losses: LossReport) => void;
}

const allow = Object.freeze({ decision: "allow" } as const);

const toErrorPayload = ({ count, bytes, byType, byReason, since, until }: LossReport) => ({
  code: "notifications_lost",
  count,
  bytes,
  by_type: byType,
  by_reason: byReason,
  since: new Date(since).toISOString(),
  until: new Date(until).toISOString(),
});

/** Tells the harness, and tells both sides of what it could not be told. */
export class Notifier {
  readonly queue: NotificationQueue;
  readonly #options: NotifierOptions;
  readonly #untold: LossCount;
  readonly #unreported: LossCount;
  #lost = 0;
  #isTelling = false;
  #isReporting = false;

  constructor(options: NotifierOptions) {
    const { link, clock } = options;
    this.#options = options;
    this.#untold = new LossCount(clock);
    this.#unreported = new LossCount(clock);
    this.queue = new NotificationQueue({
      ...options,
      ready: () => link.ready,
      mend: (...failed) => this.#mend(...failed),
      onLost: (...lost) => this.#lose(...lost),
    });
  }

  /** Notifications that were lost since the beginning. */
  get lost(): number {
    return this.#lost;
  }

  /** Keeps the event until it can be sent, or drops and counts it. */
  tell(event: AhpEvent): NotificationReceipt {
    const { state, harness } = this.#options.link;
    const isTooDeep = event.depth > toHarnessLimits(harness?.config).maxDepth;
    const refusal = state === "closed" ? "closed" : isTooDeep ? "depth_exceeded" : undefined;
    if (refusal === undefined) return { decision: allow, accepted: this.queue.add(event) };
    this.#lose({ type: event.event_type, bytes: bytesOf(JSON.stringify(event)) }, refusal);
    return { decision: allow, accepted: false };
  }

  /** Counts a notification that could not be made, and tells of it as of any other loss. */
  leaveOut(type: AhpEventType, reason: string): void {
    this.#lose({ type, bytes: 0 }, reason);
  }

  /** The link's state has changed. */
  changed(state: ClientState): void {
    if (state === "ready") this.queue.pump();
    if (state === "closed") this.queue.clear("closed");
    this.#tellLosses();
  }

  async #mend(ready: ReadyLine, failure: AhpFailure, event: Origin): Promise<void> {
    const { link, renewals, handshakeTimeoutMs } = this.#options;
    if (isLoss(failure)) link.abandon(ready.line, failure);
    if (!wantsHandshake(failure)) return;
    // What could not be renewed is refused once more, and counted then.
    await renewals.renew(ready, [event], { timeoutMs: handshakeTimeoutMs() }).catch(() => {});
  }

  #lose(loss: Loss, reason: string, message?: string): void {
    this.#lost++;
    this.#untold.add(loss, reason, message);
    // What it refused itself the harness knows.
    if (reason !== "harness_error") this.#unreported.add(loss, reason, message);
    this.#tellSoon();
  }

  /** Several losses of one moment are told at once. */
  #tellSoon(): void {
    if (this.#isTelling) return;
    this.#isTelling = true;
    queueMicrotask(() => {
      this.#isTelling = false;
      this.#tellLosses();
    });
  }

  /** While the link is being mended the count goes on; it is told when that is over, however. */
  #tellLosses(): void {
    const { link, onLoss } = this.#options;
    if (link.state === "reconnecting") return;
    this.#report();
    const losses = this.#untold.take();
    if (losses) onLoss(losses);
  }

  /** Tells the harness; one report at a time, beside the queue, which may be full. */
  #report(): void {
    const { link, makeReport } = this.#options;
    if (!link.ready || !makeReport || this.#isReporting) return;
    const losses = this.#unreported.take();
    if (!losses) return;
    this.#isReporting = true;
    link.ready.line.notify("ahp/event", makeReport(toErrorPayload(losses))).then(
      () => {
        this.#isReporting = false;
        this.#report();
      },
      (error: unknown) => {
        this.#isReporting = false;
        const failure = toFailure(error);
        // Tried again with the next loss, or over the next connection.
        if (failure.code !== "harness_error" || wantsHandshake(failure)) this.#unreported.restore(losses);
      },
    );
  }
}
