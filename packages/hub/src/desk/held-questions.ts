import type { ApprovalRecord } from "@harnesskit/approvals";

interface Holder {
  readonly question: string;
  readonly callId: string | undefined;
  readonly id: string;
}

/**
 * Which calls wait for which records at the moment. A call that is repeated finds its question; one that is the same as another that
 * waits now is another action, and has a question of its own.
 */
export class HeldQuestions {
  readonly #holders = new Set<Holder>();
  /** The last request for a record, by question: the next one must know its record. */
  readonly #asking = new Map<string, Promise<unknown>>();

  /**
   * Asks for a record with the ids of those that other calls wait for, after all earlier requests of the same question. `release` ends
   * the wait. Rejects as `ask` does.
   */
  async hold(
    question: string,
    callId: string | undefined,
    ask: (others: readonly string[]) => Promise<ApprovalRecord>,
  ): Promise<{ readonly record: ApprovalRecord; readonly release: () => void }> {
    const before = this.#asking.get(question);
    const asked = (async () => {
      await before?.catch(() => {});
      const record = await ask(this.#heldByOthers(question, callId));
      const holder = { question, callId, id: record.id };
      this.#holders.add(holder);
      return { record, release: () => void this.#holders.delete(holder) };
    })();
    this.#asking.set(question, asked);
    try {
      return await asked;
    } finally {
      if (this.#asking.get(question) === asked) this.#asking.delete(question);
    }
  }

  #heldByOthers(question: string, callId: string | undefined): readonly string[] {
    return [...this.#holders]
      .filter((each) => each.question === question && (callId === undefined || each.callId !== callId))
      .map(({ id }) => id);
  }
}
