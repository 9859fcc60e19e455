import { type ApprovalRecord, dueAtMs } from "@harnesskit/approvals";
import { BufferFullError } from "@harnesskit/wire";

/** Who asks. */
export interface Asker {
  /** A connection, or the credential of exchanges. */
  readonly client: string;
  /** What lets the client in: the socket of this user, or a credential. */
  readonly credential: string;
}

export interface QuestionBudgetOptions {
  readonly maxQuestionsPerClient: number;
  readonly maxQuestionsPerCredential: number;
}

/** A question that has not ended yet: it takes a place in the inbox. */
const isOpen = (record: ApprovalRecord): boolean => dueAtMs(record) !== undefined;

/** How many questions each client has open, so that one that invents sessions does not fill the inbox for the others. */
export class QuestionBudget {
  readonly #options: QuestionBudgetOptions;
  readonly #askers = new Map<string, Asker>();
  readonly #counts = { client: new Map<string, number>(), credential: new Map<string, number>() };
  /** By approval. */
  readonly #questions = new Map<string, string>();

  constructor(options: QuestionBudgetOptions) {
    this.#options = options;
  }

  /** Takes a place for a question; false for one that has its place. Throws `buffer_full` with the name of the limit. */
  take(asker: Asker, question: string): boolean {
    if (this.#askers.has(question)) return false;
    const { maxQuestionsPerClient, maxQuestionsPerCredential } = this.#options;
    if ((this.#counts.client.get(asker.client) ?? 0) >= maxQuestionsPerClient)
      throw new BufferFullError("maxQuestionsPerClient", maxQuestionsPerClient);
    if ((this.#counts.credential.get(asker.credential) ?? 0) >= maxQuestionsPerCredential)
      throw new BufferFullError("maxQuestionsPerCredential", maxQuestionsPerCredential);
    this.#askers.set(question, asker);
    this.#count(asker, 1);
    return true;
  }

  /** The approval of a question that took a place. */
  asked(question: string, record: ApprovalRecord): void {
    if (isOpen(record)) this.#questions.set(record.id, question);
    else this.release(question);
  }

  /** Gives a place back. */
  release(question: string): void {
    const asker = this.#askers.get(question);
    if (asker === undefined) return;
    this.#askers.delete(question);
    this.#count(asker, -1);
  }

  /** Notices what became of an approval. */
  changed(record: ApprovalRecord): void {
    const question = this.#questions.get(record.id);
    if (question === undefined || isOpen(record)) return;
    this.#questions.delete(record.id);
    this.release(question);
  }

  #count({ client, credential }: Asker, by: number): void {
    for (const [counts, name] of [
      [this.#counts.client, client],
      [this.#counts.credential, credential],
    ] as const) {
      const count = (counts.get(name) ?? 0) + by;
      if (count > 0) counts.set(name, count);
      else counts.delete(name);
    }
  }
}
