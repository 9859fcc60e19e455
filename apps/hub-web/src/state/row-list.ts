import { happenings } from "@harnesskit/hub/client";
import type { TimelineFilter, TimelineRow } from "@harnesskit/protocol/hub";
import type { HubLink } from "./hub-link.ts";

const pageSize = 500;
/** Rows that are read before anything else of the list is wanted. */
const firstRows = 1000;
/** A page of the browser holds no more. */
const maxRows = 150_000;

/** The rows as they are after a change: those that are known are replaced, newer ones lead, older ones wait for their page. */
export const mergeRows = (
  rows: readonly TimelineRow[],
  changed: readonly TimelineRow[],
  isComplete: boolean,
): readonly TimelineRow[] => {
  const oldest = rows.at(-1)?.id ?? 0;
  const merged = new Map(rows.map((row) => [row.id, row]));
  for (const row of changed) {
    const known = merged.get(row.id);
    if (known === undefined ? isComplete || row.id > oldest : row.seq > known.seq) merged.set(row.id, row);
  }
  return [...merged.values()].sort((a, b) => b.id - a.id);
};

export interface RowListOptions {
  readonly link: HubLink;
  readonly filter: TimelineFilter;
  readonly signal: AbortSignal;
  readonly onChange: () => void;
  readonly onError: (error: unknown) => void;
}

/** The rows of a filter, the newest first: the newest thousand, and all once they are wanted. */
export class RowList {
  readonly #options: RowListOptions;
  #rows: readonly TimelineRow[] = [];
  #shown: { readonly of: readonly TimelineRow[]; readonly rows: readonly TimelineRow[] } | undefined;
  #nextBeforeId: number | undefined;
  #wantsAll = false;
  isLoading = false;
  isComplete = false;

  constructor(options: RowListOptions) {
    this.#options = options;
  }

  /** What is shown of them. */
  get rows(): readonly TimelineRow[] {
    if (this.#shown?.of !== this.#rows)
      this.#shown = { of: this.#rows, rows: happenings(this.#rows).toReversed() };
    return this.#shown.rows;
  }

  /** Whether there are older rows that the page does not hold. */
  get isFull(): boolean {
    return !this.isComplete && this.#rows.length >= maxRows;
  }

  apply(changed: readonly TimelineRow[]): void {
    this.#rows = mergeRows(this.#rows, changed, this.isComplete);
  }

  #append(older: readonly TimelineRow[]): void {
    const oldest = this.#rows.at(-1)?.id ?? Number.POSITIVE_INFINITY;
    // A change may have brought a row of this page before.
    const isNext = older.every(({ id }) => id < oldest);
    this.#rows = isNext ? [...this.#rows, ...older] : mergeRows(this.#rows, older, true);
  }

  /** Reads the first pages; with `isAll` the others too. */
  async load(isAll = false): Promise<void> {
    const { link, filter, signal, onChange, onError } = this.#options;
    this.#wantsAll ||= isAll;
    if (this.isLoading || this.isComplete) return;
    this.isLoading = true;
    try {
      do {
        const params = { filter, beforeId: this.#nextBeforeId, limit: pageSize };
        const { rows, nextBeforeId } = await link.client.call("timeline.page", params);
        if (signal.aborted) return;
        this.#append(rows);
        this.#nextBeforeId = nextBeforeId;
        this.isComplete = nextBeforeId === undefined;
        onChange();
      } while (!this.isComplete && this.#rows.length < (this.#wantsAll ? maxRows : firstRows));
    } catch (error) {
      if (!signal.aborted) onError(error);
    } finally {
      this.isLoading = false;
      if (!signal.aborted) onChange();
    }
  }
}
