import { HubError } from "@harnesskit/hub/client";
import type { Always, ApprovalRecord } from "@harnesskit/protocol/hub";
import { failureText, isLost } from "./failures.ts";
import type { HubLink } from "./hub-link.ts";
import { Store } from "./store.ts";
import { UnsentAnswers } from "./unsent-answers.ts";

/** Ended approvals that stay in the list. */
const maxEnded = 100;

export interface Answer {
  readonly decision: "approve" | "reject";
  readonly note?: string | undefined;
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

type Answered = Pick<ApprovalRecord, "id" | "digest">;

/** What waits for a human, and what became of it while the page was open. */
export class Inbox {
  readonly records = new Store<Records>(new Map());
  readonly answers = new Store<ReadonlyMap<string, AnswerState>>(new Map());
  /** Whether the list is complete. */
  readonly isLoaded = new Store(false);
  readonly problem = new Store<string | undefined>(undefined);
  readonly #link: HubLink;
  readonly #unsent = new UnsentAnswers();
  /** Questions whose answer is being kept. */
  readonly #pressed = new Set<string>();
  readonly #onAsked: (record: ApprovalRecord) => void;

  /** `onAsked` gets each question that arrives after the list was complete. */
  constructor(link: HubLink, onAsked: (record: ApprovalRecord) => void) {
    this.#link = link;
    this.#onAsked = onAsked;
    void this.#sendAgain();
    void this.#follow();
  }

  /** What an earlier load of the page has kept. */
  async #sendAgain(): Promise<void> {
    for (const { answer, ...question } of await this.#unsent.all()) void this.#send(question, answer, true);
  }

  /** What waits, then each change. A lost connection is replaced by the client, and the changes go on where they ended. */
  async #follow(): Promise<void> {
    const { client } = this.#link;
    try {
      const afterSeq = await client.inboxSeq();
      await this.#load();
      for await (const record of client.watchInbox({ afterSeq })) {
        const isNew = !this.records.value.has(record.id) && record.status === "pending";
        this.#merge([record]);
        if (isNew) this.#onAsked(record);
      }
    } catch (error) {
      if (isLost(error) && client.state !== "closed") return this.#follow();
      this.problem.set(failureText(error));
    }
  }

  async #load(): Promise<void> {
    let afterSeq = 0;
    for (;;) {
      const page = await this.#link.client.call("inbox.list", { status: "pending", afterSeq, limit: 200 });
      this.#merge(page.records);
      if (page.records.length === 0 || page.nextSeq <= afterSeq) break;
      afterSeq = page.nextSeq;
    }
    this.isLoaded.set(true);
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

  /** Reads an approval that a link names. Rejects with the hub's error `approval_not_found`. */
  async fetch(id: string): Promise<void> {
    if (this.records.value.has(id)) return;
    const { record } = await this.#link.client.call("inbox.get", { id });
    this.#merge([record]);
  }

  #setAnswer(id: string, state: AnswerState): void {
    this.answers.set(new Map(this.answers.value).set(id, state));
  }

  /** Answers what was shown. The result is in `answers`; an answer that was sent twice counts once. */
  async answer({ id, digest }: ApprovalRecord, answer: Answer): Promise<void> {
    if (this.#pressed.has(id) || this.answers.value.get(id)?.state === "sending") return;
    this.#pressed.add(id);
    // First: what the page says of an answer holds over the end of the browser.
    await this.#unsent.keep({ id, digest, answer });
    const sent = this.#send({ id, digest }, answer, false);
    this.#pressed.delete(id);
    await sent;
  }

  async #send({ id, digest }: Answered, answer: Answer, wasSent: boolean): Promise<void> {
    this.#setAnswer(id, { answer, state: "sending" });
    const state = await this.#deliver({ id, digest }, answer, wasSent);
    await this.#unsent.forget(id);
    this.#setAnswer(id, { answer, ...state });
  }

  async #deliver(
    { id, digest }: Answered,
    answer: Answer,
    wasSent: boolean,
  ): Promise<Omit<AnswerState, "answer">> {
    let wasLost = wasSent;
    for (;;) {
      try {
        const { record } = await this.#link.client.call("inbox.answer", { id, digest, ...answer });
        this.#merge([record]);
        return { state: "counted" };
      } catch (error) {
        if (isLost(error) && this.#link.client.state !== "closed") {
          // The answer may have counted. The same one is given again over the next connection.
          wasLost = true;
          continue;
        }
        const record = HubError.isInstance(error) ? error.record : undefined;
        if (record) this.#merge([record]);
        if (wasLost && this.#isOurs(record, answer)) return { state: "counted" };
        return { state: record === undefined ? "failed" : "late", problem: failureText(error) };
      }
    }
  }

  #isOurs(record: ApprovalRecord | undefined, { decision, note }: Answer): boolean {
    const status = decision === "approve" ? "approved" : "rejected";
    const by = this.#link.hello.value?.by;
    return record?.status === status && record.answer?.by === by && record.answer?.note === note;
  }
}

/** Whether an answer would reach no one: the asker has gone, and has not asked again. */
export const isLeft = ({ status, asker }: ApprovalRecord): boolean =>
  status === "pending" && asker === "left";

/** Those that wait, the one that was asked first first; last those whose asker has gone. */
export const pendingOf = (records: Records): readonly ApprovalRecord[] =>
  [...records.values()]
    .filter(({ status }) => status === "pending")
    .sort((a, b) => Number(isLeft(a)) - Number(isLeft(b)) || a.createdAtMs - b.createdAtMs || a.seq - b.seq);

/** How many wait for an answer that would reach their asker. */
export const waitingIn = (records: Records): number =>
  pendingOf(records).filter((record) => !isLeft(record)).length;

/** Those that ended, the one that changed last first. */
export const endedOf = (records: Records): readonly ApprovalRecord[] =>
  [...records.values()].filter(({ status }) => status !== "pending").sort((a, b) => b.seq - a.seq);
