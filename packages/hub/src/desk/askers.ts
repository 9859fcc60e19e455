import { ApprovalError, type ApprovalRecord, type ApprovalStore } from "@harnesskit/approvals";
import { type Clock, sharedSignal } from "@harnesskit/wire";

export interface AskersOptions {
  readonly approvals: ApprovalStore;
  readonly clock: Clock;
  readonly returnWithinMs: number;
  readonly onError: (error: unknown) => void;
}

/** An asker that waits, or the time until it counts as gone, by approval. */
interface Watched {
  readonly isHere: boolean;
  readonly stop: () => void;
}

/** How long after the start of a hub the askers of earlier questions may take to connect and ask again. */
const restartMs = 60_000;

/** Marks the pending questions whose askers have gone: their connection or request ended, and no agent asked again in time. */
export class Askers {
  readonly #options: AskersOptions;
  readonly #watched = new Map<string, Watched>();
  #isClosed = false;

  constructor(options: AskersOptions) {
    this.#options = options;
  }

  /** No agent is known to wait for the questions of an earlier hub. */
  async start(): Promise<void> {
    for (let afterSeq = 0; ; ) {
      const { records, nextSeq } = await this.#options.approvals.page({ status: "pending", afterSeq });
      for (const { id, asker } of records) if (asker !== "left") this.#leaveAfter(id, restartMs);
      if (records.length === 0) return;
      afterSeq = nextSeq;
    }
  }

  close(): void {
    this.#isClosed = true;
    for (const { stop } of this.#watched.values()) stop();
    this.#watched.clear();
  }

  /** An agent waits for the answer until one of the signals aborts. An earlier asker of the same question no longer counts. */
  watch(record: ApprovalRecord, signals: readonly AbortSignal[]): void {
    if (record.status !== "pending" || this.#isClosed) return;
    if (record.asker === "left") this.#note(record.id, "here");
    const { id } = record;
    const gone = () => this.#leaveAfter(id, this.#options.returnWithinMs);
    const stop = () => {
      for (const signal of signals) signal.removeEventListener("abort", gone);
    };
    this.#put(id, { isHere: true, stop });
    for (const signal of signals) sharedSignal(signal).addEventListener("abort", gone, { once: true });
    if (signals.some(({ aborted }) => aborted)) gone();
  }

  /** Notices what became of a question; another hub of the store may think that an asker has left that waits here. */
  changed({ id, status, asker }: ApprovalRecord): void {
    const watched = this.#watched.get(id);
    if (watched === undefined || (status === "pending" && asker !== "left")) return;
    if (status === "pending" && watched.isHere) this.#note(id, "here");
    else {
      watched.stop();
      this.#watched.delete(id);
    }
  }

  #put(id: string, watched: Watched): void {
    this.#watched.get(id)?.stop();
    this.#watched.set(id, watched);
  }

  #leaveAfter(id: string, ms: number): void {
    if (this.#isClosed) return;
    const leave = () => {
      this.#watched.delete(id);
      this.#note(id, "left");
    };
    this.#put(id, { isHere: false, stop: this.#options.clock.after(ms, leave) });
  }

  #note(id: string, asker: "here" | "left"): void {
    const { approvals, onError } = this.#options;
    approvals.apply(id, { type: "asker", asker }).catch((error: unknown) => {
      // It was answered meanwhile.
      if (!ApprovalError.isInstance(error) || error.record === undefined) onError(error);
    });
  }
}
