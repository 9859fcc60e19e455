import type { ApprovalStore } from "@harnesskit/approvals";
import type { HubNotificationName, HubNotificationParams, TimelineFilter } from "@harnesskit/protocol/hub";
import { rowMatches, type TimelineStore } from "@harnesskit/timeline";
import { BufferFullError, type Clock, createDeferred, HarnessError } from "@harnesskit/wire";
import type { Recorder } from "../timeline/recorder.ts";

export interface WatchesOptions {
  readonly approvals: ApprovalStore;
  readonly timeline: TimelineStore;
  readonly recorder: Recorder;
  readonly clock: Clock;
  readonly maxWatches: number;
  /** Settles when the message was handed over: a slow client slows its own watch only. */
  readonly notify: <N extends HubNotificationName>(
    name: N,
    params: HubNotificationParams<N>,
  ) => Promise<void>;
  readonly onError: (error: unknown) => void;
}

/** How often a watch looks for changes of other hubs. */
const pollMs = 1000;

/** The watches of one client. They keep no queue: a watch reads on from the last change that its client has. */
export class Watches {
  readonly #options: WatchesOptions;
  readonly #open = new Map<string, AbortController>();
  #count = 0;

  constructor(options: WatchesOptions) {
    this.#options = options;
  }

  /** Throws `buffer_full` beyond the limit. */
  inbox(afterSeq: number): string {
    return this.#start(async (watchId, signal) => {
      for await (const record of this.#options.approvals.watch({ afterSeq, signal })) {
        await this.#options.notify("inbox.changed", { watchId, record });
      }
    });
  }

  /** Throws `buffer_full` beyond the limit. */
  timeline(afterSeq: number, filter: TimelineFilter | undefined): string {
    return this.#start(async (watchId, signal) => {
      const { timeline, notify } = this.#options;
      let last = afterSeq;
      while (!signal.aborted) {
        const change = this.#nextChange(signal);
        const rows = await timeline.changes(last);
        const seq = rows.at(-1)?.seq ?? last;
        const shown = rows.filter((row) => rowMatches(row, filter));
        if (shown.length > 0) await notify("timeline.changed", { watchId, rows: shown, seq });
        last = seq;
        if (rows.length === 0) await change.promise;
        change.cancel();
      }
    });
  }

  cancel(watchId: string): boolean {
    this.#open.get(watchId)?.abort();
    return this.#open.delete(watchId);
  }

  close(): void {
    for (const watchId of [...this.#open.keys()]) this.cancel(watchId);
  }

  #start(run: (watchId: string, signal: AbortSignal) => Promise<void>): string {
    const { maxWatches } = this.#options;
    if (this.#open.size >= maxWatches) throw new BufferFullError("maxWatchesPerClient", maxWatches);
    const watchId = `watch_${++this.#count}`;
    const abort = new AbortController();
    this.#open.set(watchId, abort);
    // After the answer that names the watch.
    this.#options.clock.after(0, () => {
      void run(watchId, abort.signal)
        .then(() => "closed")
        .catch((error: unknown) => this.#failed(error, abort.signal))
        .then((reason) => {
          if (!this.#open.delete(watchId) || reason === undefined) return;
          void this.#options.notify("watch.ended", { watchId, reason }).catch(() => {});
        });
    });
    return watchId;
  }

  #failed(error: unknown, signal: AbortSignal): string | undefined {
    if (signal.aborted) return undefined;
    const code = HarnessError.isInstance(error) ? error.code : "failed";
    if (code === "connection_closed") return undefined;
    this.#options.onError(error);
    return code;
  }

  #nextChange(signal: AbortSignal): { readonly promise: Promise<void>; cancel(): void } {
    const { recorder, timeline, clock } = this.#options;
    const { promise, resolve } = createDeferred<void>();
    const wake = () => resolve();
    const stop = recorder.onRows(() => wake());
    const stopOthers = timeline.onChange?.(() => wake());
    const cancelTimer = clock.after(pollMs, () => wake());
    signal.addEventListener("abort", wake);
    return {
      promise,
      cancel() {
        stop();
        stopOthers?.();
        cancelTimer();
        signal.removeEventListener("abort", wake);
        wake();
      },
    };
  }
}
