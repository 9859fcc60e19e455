import type { AuditEntryInput } from "../entry.ts";
import type { AuditAction, AuditActionEnd } from "../sink.ts";

/** Beginnings that wait for their ends; at one more, all that did not end are written. */
const maxOpenActions = 4096;

/**
 * An action that was begun, as the entry that it will leave: with its end where that comes before the beginning was
 * written, else a beginning, and an end with the same ids.
 */
export class OpenAction implements AuditAction {
  readonly #record: (entry: AuditEntryInput) => void;

  constructor(
    readonly entry: AuditEntryInput,
    /** Milliseconds since 1970. */
    readonly begunAt: number,
    /** Whether the beginning has an entry of its own, or needs none. */
    public isRecorded: boolean,
    record: (entry: AuditEntryInput) => void,
  ) {
    this.#record = record;
  }

  end(end: AuditActionEnd): void {
    let last: AuditEntryInput;
    try {
      const { action, outcome, duration_ms, details } = end;
      last = {
        ...this.entry,
        action: this.isRecorded ? action : this.entry.action,
        outcome,
        duration_ms,
        details,
      };
    } catch {
      // An entry of its own, with a mark; the beginning stays one without an end.
      this.#record(end);
      return;
    }
    this.isRecorded = true;
    this.#record(last);
  }
}

/** Actions in progress whose beginnings are not written yet, in the order of their beginnings. */
export class OpenActions {
  readonly #write: (entry: AuditEntryInput, timeMs: number) => void;
  /** Those that ended are still among them. */
  #open: OpenAction[] = [];

  constructor(write: (entry: AuditEntryInput, timeMs: number) => void) {
    this.#write = write;
  }

  add(action: OpenAction): void {
    if (this.#open.length >= maxOpenActions) this.writeAll();
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
}
