import type { AuditAction, AuditActionEnd } from "../sink.ts";
import type { EntrySnapshot } from "../snapshot.ts";

/** Beginnings that wait for their ends; at one more, all that did not end are written. */
const maxOpenActions = 4096;
/** From so many on, those that ended are looked for. */
const minOpenActions = 64;

/** Writes an entry, at this time or now. */
export type WriteEntry = (entry: unknown, timeMs?: number) => void;

/**
 * An action that was begun, as the entry that it will leave: with its end where that comes before the beginning was
 * written, else a beginning, and an end with the same ids.
 */
export class OpenAction implements AuditAction {
  readonly #write: WriteEntry;

  constructor(
    readonly entry: EntrySnapshot,
    /** Milliseconds since 1970. */
    readonly begunAt: number,
    /** Whether the beginning has an entry of its own, or needs none. */
    public isRecorded: boolean,
    write: WriteEntry,
  ) {
    this.#write = write;
  }

  end(end: AuditActionEnd): void {
    const { entry } = this;
    try {
      const { action, outcome, duration_ms, details } = end;
      if (this.isRecorded) {
        this.#write({ ...entry, action, outcome, duration_ms, details });
        return;
      }
      entry.outcome = outcome;
      entry.duration_ms = duration_ms;
      entry.details = details;
    } catch {
      // An entry of its own, with a mark; the beginning stays one without an end.
      this.#write(end);
      return;
    }
    this.isRecorded = true;
    this.#write(entry);
  }
}

/** Actions in progress whose beginnings are not written yet, in the order of their beginnings. */
export class OpenActions {
  readonly #write: WriteEntry;
  /** Those that ended are still among them, for a while. */
  #open: OpenAction[] = [];
  #tidyAt = minOpenActions;

  constructor(write: WriteEntry) {
    this.#write = write;
  }

  add(action: OpenAction): void {
    if (this.#open.length >= this.#tidyAt) this.#tidy();
    this.#open.push(action);
  }

  /** Writes the beginnings whose ends have not come. */
  writeAll(): void {
    const open = this.#open;
    this.#open = [];
    for (const action of open) {
      if (action.isRecorded) continue;
      action.isRecorded = true;
      this.#write(action.entry, action.begunAt);
    }
  }

  /** Lets go of those that ended, so that they do not outlive their actions by much. */
  #tidy(): void {
    this.#open = this.#open.filter(({ isRecorded }) => !isRecorded);
    if (this.#open.length >= maxOpenActions) this.writeAll();
    this.#tidyAt = Math.min(maxOpenActions, 2 * this.#open.length + minOpenActions);
  }
}
