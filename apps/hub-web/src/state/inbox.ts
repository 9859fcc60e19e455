import { type Always, type ApprovalRecord, HubErrorCode } from "@harnesskit/protocol/hub";
import { failureText, hubErrorOf } from "./failures.ts";
import type { HubLink } from "./hub-link.ts";
import { Store } from "./store.ts";

/** Ended approvals that stay in the list. */
const maxEnded = 100;

export interface Answer {
  readonly decision: "approve" | "reject";
  readonly note?: string;
  readonly always?: Always;
}

/** What came of an answer that was given here. */
export interface AnswerState {
  readonly answer: Answer;
  /** `late`: another answer, or the end, came first. */
  readonly state: "sending" | "counted" | "late" | "failed";
  readonly problem?: string;
}

type Records = ReadonlyMap<string, ApprovalRecord>;

/** What waits for a human, and what became of it while the page was open. */
export class Inbox {
  readonly records = new Store<Records>(new Map());
  readonly answers = new Store<ReadonlyMap<string, AnswerState>>(new Map());
  /** Whether the list is complete. */
  readonly isLoaded = new Store(false);
  readonly problem = new Store<string | undefined>(undefined);
  readonly #link: HubLink;
  #afterSeq: number | undefined;
  #watchId: string | undefined;
  #onAsked: (record: ApprovalRecord) => void = () => undefined;

  constructor(link: HubLink) {
    this.#link = link;
    link.on("inbox.changed", ({ watchId, record }) => {
      if (watchId === this.#watchId) this.#take([record]);
    });
    link.onReady(() => void this.#follow());
  }

  /** Reports each question that arrives after the list was complete. */
  onAsked(listener: (record: ApprovalRecord) => void): void {
    this.#onAsked = listener;
  }

  async #follow(): Promise<void> {
    try {
      const isFirst = this.#afterSeq === undefined;
      this.#watchId = undefined;
      const params = this.#afterSeq === undefined ? {} : { afterSeq: this.#afterSeq };
      const { watchId, afterSeq } = await this.#link.call("inbox.watch", params);
      this.#watchId = watchId;
      this.#afterSeq ??= afterSeq;
      if (isFirst || !this.isLoaded.value) await this.#load();
      this.problem.set(undefined);
    } catch (error) {
      this.problem.set(failureText(error));
    }
  }

  /** All that waits. What changes meanwhile arrives over the watch. */
  async #load(): Promise<void> {
    let afterSeq = 0;
    for (;;) {
      const page = await this.#link.call("inbox.list", { status: "pending", afterSeq, limit: 200 });
      this.#merge(page.records);
      if (page.records.length === 0 || page.nextSeq <= afterSeq) break;
      afterSeq = page.nextSeq;
    }
    this.isLoaded.set(true);
  }

  #take(records: readonly ApprovalRecord[]): void {
    for (const record of records) {
      this.#afterSeq = Math.max(this.#afterSeq ?? 0, record.seq);
      const isNew = !this.records.value.has(record.id) && record.status === "pending";
      this.#merge([record]);
      if (isNew && this.isLoaded.value) this.#onAsked(record);
    }
  }

  #merge(records: readonly ApprovalRecord[]): void {
    const merged = new Map(this.records.value);
    for (const record of records) {
      const known = merged.get(record.id);
      if (known === undefined || known.seq < record.seq) merged.set(record.id, record);
    }
    const ended = [...merged.values()]
      .filter(({ status }) => status !== "pending")
      .sort((a, b) => a.seq - b.seq);
    for (const { id } of ended.slice(0, Math.max(0, ended.length - maxEnded))) merged.delete(id);
    this.records.set(merged);
  }

  /** An approval that a link names; undefined if there is none. */
  async fetch(id: string): Promise<ApprovalRecord | undefined> {
    const known = this.records.value.get(id);
    if (known !== undefined) return known;
    try {
      const { record } = await this.#link.call("inbox.get", { id });
      this.#merge([record]);
      return record;
    } catch (error) {
      if (hubErrorOf(error)?.code === HubErrorCode.NotFound) return undefined;
      throw error;
    }
  }

  #setAnswer(id: string, state: AnswerState): void {
    this.answers.update((answers) => new Map(answers).set(id, state));
  }

  /** Answers what was shown. The result is in `answers`; an answer that was sent twice counts once. */
  async answer({ id, digest }: ApprovalRecord, answer: Answer): Promise<void> {
    if (this.answers.value.get(id)?.state === "sending") return;
    this.#setAnswer(id, { answer, state: "sending" });
    const wasLost = { value: false };
    for (;;) {
      try {
        const { record } = await this.#link.call("inbox.answer", { id, digest, ...answer });
        this.#merge([record]);
        return this.#setAnswer(id, { answer, state: "counted" });
      } catch (error) {
        const known = hubErrorOf(error);
        if (known === undefined && this.#link.state.value !== "denied") {
          // The connection was lost before the reply: the answer may have counted. The same answer is given again.
          wasLost.value = true;
          continue;
        }
        if (known?.record) this.#merge([known.record]);
        const isOurs =
          wasLost.value && known?.reason === "already_answered" && this.#isOurs(known.record, answer);
        if (isOurs) return this.#setAnswer(id, { answer, state: "counted" });
        const isLate = known?.code === HubErrorCode.ApprovalRefused;
        return this.#setAnswer(id, {
          answer,
          state: isLate ? "late" : "failed",
          problem: failureText(error),
        });
      }
    }
  }

  #isOurs(record: ApprovalRecord | undefined, { decision, note }: Answer): boolean {
    const status = decision === "approve" ? "approved" : "rejected";
    const by = this.#link.hello.value?.by;
    return record?.status === status && record.answer?.by === by && record.answer?.note === note;
  }
}

/** Those that wait, the one that was asked first first. */
export const pendingOf = (records: Records): readonly ApprovalRecord[] =>
  [...records.values()]
    .filter(({ status }) => status === "pending")
    .sort((a, b) => a.createdAtMs - b.createdAtMs || a.seq - b.seq);

/** Those that ended, the one that changed last first. */
export const endedOf = (records: Records): readonly ApprovalRecord[] =>
  [...records.values()].filter(({ status }) => status !== "pending").sort((a, b) => b.seq - a.seq);
