import type { PendingApproval, ShellSession } from "@harnesskit/shell-client";
import { randomId } from "@harnesskit/wire";
import type { ConversationStore } from "./conversation-store.ts";
import { approvalEntry } from "./directive-entry.ts";
import type { ApprovalEntry, ApprovalState, Entry, NewEntry } from "./entries.ts";

export interface EntryListOptions {
  readonly store: ConversationStore;
  /** The session that is stored beside the entries. */
  readonly session: () => ShellSession;
  readonly onChange: () => void;
}

/** Whether an entry waits for the answer to a question: each time that an engine asks it, it has another token. */
const isSameQuestion = ({ state, pending }: ApprovalEntry, asked: PendingApproval): boolean =>
  state === "open" &&
  pending?.digest === asked.digest &&
  asked.continuation.run_id !== undefined &&
  pending.continuation.run_id === asked.continuation.run_id;

/** The entries of one conversation, stored after each change. */
export class EntryList {
  readonly #options: EntryListOptions;
  #all: readonly Entry[];

  constructor(stored: readonly Entry[], options: EntryListOptions) {
    this.#options = options;
    this.#all = stored.map((entry) =>
      // The page before the reload asked it.
      entry.kind === "approval" && entry.state === "open" && entry.pending === undefined
        ? { ...entry, state: "gone" }
        : entry,
    );
  }

  get all(): readonly Entry[] {
    return this.#all;
  }

  find(id: string): Entry | undefined {
    return this.#all.find((entry) => entry.id === id);
  }

  add(entry: NewEntry): string {
    const id = randomId("entry");
    this.#all = [...this.#all, { ...entry, id }];
    this.save();
    return id;
  }

  replace(entry: Entry): void {
    this.#all = this.#all.map((other) => (other.id === entry.id ? entry : other));
    this.save();
  }

  /** Ends an open approval. */
  settle(id: string, state: Exclude<ApprovalState, "open">, reason?: string): void {
    const entry = this.find(id);
    if (entry?.kind === "approval" && entry.state === "open") this.replace({ ...entry, state, reason });
  }

  /** Shows a question of the engine; one that is asked once more moves down, with what answers it now. */
  ask(pending: PendingApproval): void {
    const before = this.#all.find((entry) => entry.kind === "approval" && isSameQuestion(entry, pending));
    if (before?.kind !== "approval") this.add(approvalEntry(pending));
    else {
      this.#all = [...this.#all.filter((entry) => entry !== before), { ...before, pending }];
      this.save();
    }
  }

  /** Shows what another tab has stored. */
  take(entries: readonly Entry[]): void {
    this.#all = entries;
    this.#options.onChange();
  }

  save(): void {
    const { store, session, onChange } = this.#options;
    store.save({ entries: this.#all, session: session() });
    onChange();
  }
}
