import {
  ApprovalError,
  type ApprovalQuestion,
  type ApprovalRecord,
  type ApprovalStore,
} from "@harnesskit/approvals";
import { type Clock, type CreateId, createDeferred, sharedSignal } from "@harnesskit/wire";
import type { Recorder } from "../timeline/recorder.ts";
import { approvalRow } from "./approval-row.ts";

/** What became of a question, for its asker. */
export type Ruling =
  /** Approved, and claimed by this asker: it may act once. */
  | { readonly ruling: "approved"; readonly record: ApprovalRecord }
  | { readonly ruling: "rejected"; readonly record: ApprovalRecord }
  /** It waits for a human. */
  | { readonly ruling: "pending"; readonly record: ApprovalRecord }
  /** Its answer cannot be used: another call took it, it expired or was withdrawn. */
  | { readonly ruling: "void"; readonly record: ApprovalRecord; readonly why: string };

export interface ApprovalDeskOptions {
  readonly approvals: ApprovalStore;
  readonly recorder: Recorder;
  readonly clock: Clock;
  readonly createId: CreateId;
  /** Receives each approval that has changed. Must not throw. */
  readonly onChanged: (record: ApprovalRecord) => void;
  readonly onError: (error: unknown) => void;
}

/** Puts questions, waits for their answers, and hands each answer over once. */
export class ApprovalDesk {
  readonly #options: ApprovalDeskOptions;
  readonly #waiters = new Map<string, Set<() => void>>();
  readonly #stop = new AbortController();
  #following: Promise<void> | undefined;
  #lastSeq = 0;

  constructor(options: ApprovalDeskOptions) {
    this.#options = options;
  }

  /** The number of the newest change of an approval that was seen here. */
  get lastSeq(): number {
    return this.#lastSeq;
  }

  /** Askers that are held at the moment. */
  get held(): number {
    return [...this.#waiters.values()].reduce((sum, { size }) => sum + size, 0);
  }

  /** Follows the store from its first record: rows get what became of their approvals while the hub was away. */
  start(): void {
    this.#following ??= this.#follow();
  }

  async close(): Promise<void> {
    this.#stop.abort();
    for (const waiters of this.#waiters.values()) for (const wake of waiters) wake();
    await this.#following;
  }

  /** Puts a question, or finds it; `others` are records that other calls wait for. Rejects with the errors of the store. */
  async ask(question: ApprovalQuestion, others: readonly string[]): Promise<ApprovalRecord> {
    return (await this.#options.approvals.ask(question, { others })).record;
  }

  /**
   * Waits until a question is answered or the time is over, and takes the answer. After the abort of a signal no answer is taken. Rejects
   * with the errors of the store.
   */
  async settle(first: ApprovalRecord, waitMs: number, signals: readonly AbortSignal[]): Promise<Ruling> {
    const { approvals, clock } = this.#options;
    const deadline = clock.elapsedMs() + waitMs;
    const isLeft = () => [this.#stop.signal, ...signals].some(({ aborted }) => aborted);
    let record: ApprovalRecord | undefined = first;
    while (record?.status === "pending") {
      const leftMs = deadline - clock.elapsedMs();
      if (leftMs <= 0 || isLeft()) return { ruling: "pending", record };
      await this.#changed(record, leftMs, signals, isLeft);
      record = await approvals.get(first.id);
    }
    if (record === undefined) return { ruling: "void", record: first, why: "it is not kept any more" };
    // The answer stays for the repeated call.
    if (isLeft()) return { ruling: "pending", record };
    return this.#take(record);
  }

  /** Reports what came of an approved action. What was reported before stays. */
  async report(id: string, effect: "done" | "failed" | "ambiguous", detail?: string): Promise<void> {
    const { approvals } = this.#options;
    const record = await approvals.get(id);
    const claimant = record?.taken?.by;
    if (record === undefined || claimant === undefined || record.status !== "approved") return;
    const said = detail === undefined || detail === "" ? {} : { detail: detail.slice(0, 4000) };
    try {
      await approvals.apply(id, { type: "report", claimant, effect, ...said });
    } catch (error) {
      if (!ApprovalError.isInstance(error) || error.record === undefined) throw error;
    }
  }

  /** Takes back a question whose asker does not need it any more. An answer that was taken stays. */
  async withdraw(id: string, by: string, reason: string): Promise<void> {
    try {
      await this.#options.approvals.apply(id, { type: "withdraw", by, reason });
    } catch (error) {
      if (!ApprovalError.isInstance(error)) throw error;
    }
  }

  async #take(record: ApprovalRecord): Promise<Ruling> {
    const { approvals, createId } = this.#options;
    if (record.status === "expired") return { ruling: "void", record, why: "it has expired" };
    if (record.status === "withdrawn") {
      return { ruling: "void", record, why: `it was withdrawn by ${record.withdrawn?.by ?? "its asker"}` };
    }
    try {
      const taken = await approvals.apply(record.id, {
        type: "take",
        claimant: createId("claim"),
        digest: record.digest,
      });
      return { ruling: taken.status === "rejected" ? "rejected" : "approved", record: taken };
    } catch (error) {
      if (!ApprovalError.isInstance(error) || error.record === undefined) throw error;
      const found = error.record;
      // A rejection is reported again: it does no harm twice.
      if (found.status === "rejected") return { ruling: "rejected", record: found };
      const why =
        error.code === "already_taken"
          ? "its answer was used by an earlier call, which may have done it"
          : `it cannot be used any more (${error.code})`;
      return { ruling: "void", record: found, why };
    }
  }

  /** Settles when the record may have changed, the time is over or a signal aborts. */
  async #changed(
    { id, seq }: ApprovalRecord,
    leftMs: number,
    signals: readonly AbortSignal[],
    isLeft: () => boolean,
  ): Promise<void> {
    const done = createDeferred<void>();
    const wake = () => done.resolve();
    const waiters = this.#waiters.get(id) ?? new Set();
    waiters.add(wake);
    this.#waiters.set(id, waiters);
    for (const signal of signals) sharedSignal(signal).addEventListener("abort", wake);
    const cancel = this.#options.clock.after(leftMs, wake);
    try {
      // The change may have come before this call.
      const current = await this.#options.approvals.get(id);
      if (current === undefined || current.seq !== seq) return;
      if (!isLeft()) await done.promise;
    } finally {
      cancel();
      for (const signal of signals) signal.removeEventListener("abort", wake);
      waiters.delete(wake);
      if (waiters.size === 0) this.#waiters.delete(id);
    }
  }

  async #follow(): Promise<void> {
    const { approvals, recorder, onChanged, onError } = this.#options;
    const { signal } = this.#stop;
    while (!signal.aborted) {
      try {
        for await (const record of approvals.watch({ afterSeq: this.#lastSeq, signal })) {
          // The asker first: the row is only for those who look.
          for (const wake of this.#waiters.get(record.id) ?? []) wake();
          onChanged(record);
          await recorder.write({
            type: "change",
            find: { approvalId: record.id },
            keepsWriter: true,
            apply: ({ row }) => approvalRow(row, record),
          });
          this.#lastSeq = record.seq;
        }
        return;
      } catch (error) {
        if (signal.aborted) return;
        onError(error);
        await new Promise<void>((resolve) => {
          this.#options.clock.after(1000, resolve, true);
          signal.addEventListener("abort", () => resolve(), { once: true });
        });
      }
    }
  }
}
