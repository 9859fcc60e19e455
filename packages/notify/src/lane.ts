import type { ApprovalRecord } from "@harnesskit/approvals";
import { type Backoff, backoffDelayMs, type Clock, digest, wait } from "@harnesskit/wire";
import { settleWithin } from "@harnesskit/wire/time";
import type { NotifyTarget } from "./config.ts";
import { maxItems, type Notice, type NoticeLinks, noticeItem } from "./notice.ts";
import { NotifyError } from "./notify-error.ts";
import type { SentLog } from "./sent-log.ts";
import { deliver } from "./targets/deliver.ts";

export interface LaneOptions {
  readonly name: string;
  readonly target: NotifyTarget;
  readonly links: NoticeLinks;
  readonly sent: SentLog;
  readonly fetch: typeof fetch;
  readonly clock: Clock;
  readonly backoff: Backoff;
  /** How long one attempt may take. */
  readonly timeoutMs: number;
  /** Between two notices: what comes meanwhile goes out as one. */
  readonly spacingMs: number;
  readonly closed: AbortSignal;
  readonly onError: (error: unknown) => void;
}

/** What goes to one target, one notice at a time. */
export class NoticeLane {
  readonly #options: LaneOptions;
  /** By the key of the notice. */
  readonly #waiting = new Map<string, ApprovalRecord>();
  #running: Promise<void> | undefined;

  constructor(options: LaneOptions) {
    this.#options = options;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  put(key: string, record: ApprovalRecord): void {
    this.#waiting.set(key, record);
    this.#running ??= this.#run()
      .catch(this.#options.onError)
      .finally(() => {
        this.#running = undefined;
      });
  }

  /** Takes back what was not sent yet. */
  drop(approvalId: string): void {
    for (const [key, { id }] of this.#waiting) if (id === approvalId) this.#waiting.delete(key);
  }

  /** Resolves when nothing is being sent. */
  async idle(): Promise<void> {
    await this.#running;
  }

  async #run(): Promise<void> {
    const { sent, clock, closed, spacingMs, onError } = this.#options;
    // What is put in the same tick goes out as one notice.
    await Promise.resolve();
    while (this.#waiting.size > 0 && !closed.aborted) {
      const keys = await this.#send();
      for (const key of keys.sent) this.#waiting.delete(key);
      // A record of it that fails may tell it again after a restart, and holds nothing back.
      if (keys.sent.length > 0 && keys.isDelivered) await sent.add(keys.sent).catch(onError);
      await wait(spacingMs, clock, closed);
    }
  }

  /** Tries until it is delivered, given up, or nothing waits any more. */
  async #send(): Promise<{ readonly sent: readonly string[]; readonly isDelivered: boolean }> {
    const { name, target, fetch, clock, backoff, timeoutMs, closed, onError } = this.#options;
    for (let attempt = 1; this.#waiting.size > 0 && !closed.aborted; attempt++) {
      const keys = [...this.#waiting.keys()];
      const notice = await this.#notice(keys);
      const settled = await settleWithin((signal) => deliver(notice, target, { fetch, signal }), {
        name: `notice to ${name}`,
        ...{ timeoutMs, clock, signal: closed },
      });
      if (settled.status === "done") return { sent: keys, isDelivered: true };
      if (settled.status === "cancelled") break;
      const failure =
        settled.status === "timed_out"
          ? new NotifyError("target_timeout", "it did not answer in time")
          : settled.error;
      const known = NotifyError.isInstance(failure) ? failure : undefined;
      const isOver = known === undefined || known.isFinal || attempt >= backoff.maxAttempts;
      if (attempt === 1 || isOver) onError(noticeFailure(name, failure, isOver));
      if (isOver) return { sent: keys, isDelivered: false };
      const delayMs = Math.max(backoffDelayMs(attempt, backoff), known.retryAfterMs);
      await wait(delayMs, clock, closed);
    }
    return { sent: [], isDelivered: false };
  }

  async #notice(keys: readonly string[]): Promise<Notice> {
    const { name, links, clock } = this.#options;
    // Several steps may be due for one approval.
    const records = [...new Map([...this.#waiting.values()].map((record) => [record.id, record])).values()];
    // The same content has the same id: a receiver may drop a notice that comes twice.
    const id = `ntc_${(await digest([...keys].sort())).slice("sha256:".length, "sha256:".length + 32)}`;
    return {
      id,
      atMs: clock.now(),
      items: records.slice(0, maxItems).map((record) => noticeItem(record, links, name)),
      total: records.length,
      link: links.page(),
    };
  }
}

const noticeFailure = (name: string, failure: unknown, isOver: boolean): unknown => {
  if (!NotifyError.isInstance(failure)) return failure;
  const next = isOver ? "the notice is given up" : "it is tried again";
  return new NotifyError(failure.code, `the notice to ${name} failed: ${failure.message}; ${next}`, {
    cause: failure,
    isFinal: isOver,
  });
};
