import type { TimelineRow } from "@harnesskit/protocol/hub";
import { failureText } from "./failures.ts";
import type { HubLink } from "./hub-link.ts";
import type { TimelineFilter } from "./route.ts";
import { Store } from "./store.ts";

const pageSize = 200;

export interface TimelineState {
  readonly filter: TimelineFilter;
  /** The newest first. */
  readonly rows: readonly TimelineRow[];
  /** `beforeId` of the next older page; undefined at the end. */
  readonly nextBeforeId: number | undefined;
  readonly isLoading: boolean;
  readonly isLoaded: boolean;
  readonly problem: string | undefined;
}

const emptyState = (filter: TimelineFilter): TimelineState => ({
  filter,
  rows: [],
  nextBeforeId: undefined,
  isLoading: true,
  isLoaded: false,
  problem: undefined,
});

const toParams = ({ failed, ...rest }: TimelineFilter) => ({
  ...rest,
  ...(failed ? { failedOnly: true } : {}),
});

/** The rows as they are after a change: those that are known are replaced, newer ones lead, older ones wait for their page. */
export const mergeRows = (
  rows: readonly TimelineRow[],
  changed: readonly TimelineRow[],
  isComplete: boolean,
): readonly TimelineRow[] => {
  const byId = new Map(changed.map((row) => [row.id, row]));
  const merged = rows.map((row) => {
    const next = byId.get(row.id);
    byId.delete(row.id);
    return next !== undefined && next.seq > row.seq ? next : row;
  });
  const oldest = rows.at(-1)?.id ?? 0;
  const added = [...byId.values()].filter(({ id }) => isComplete || id > oldest);
  if (added.length === 0) return merged;
  added.sort((a, b) => b.id - a.id);
  const newest = merged[0]?.id ?? 0;
  if ((added.at(-1)?.id ?? 0) > newest) return [...added, ...merged];
  return [...added, ...merged].sort((a, b) => b.id - a.id);
};

/** The rows that fit the filter, from the newest down as far as they were asked for, and as they change. */
export class Timeline {
  readonly state: Store<TimelineState>;
  readonly #link: HubLink;
  #watchId: string | undefined;
  #seq: number | undefined;
  /** Differs for each filter and connection: what belongs to an earlier one is late. */
  #round = 0;
  #changed = new Map<number, TimelineRow>();

  constructor(link: HubLink, filter: TimelineFilter) {
    this.#link = link;
    this.state = new Store(emptyState(filter));
    link.on("timeline.changed", ({ watchId, rows, seq }) => {
      if (watchId !== this.#watchId) return;
      this.#seq = seq;
      if (this.#changed.size === 0) requestAnimationFrame(() => this.#apply());
      for (const row of rows) this.#changed.set(row.id, row);
    });
    link.onReady(() => void this.#begin());
  }

  #set(change: Partial<TimelineState>): void {
    this.state.update((state) => ({ ...state, ...change }));
  }

  #apply(): void {
    const changed = [...this.#changed.values()];
    this.#changed.clear();
    const { rows, nextBeforeId } = this.state.value;
    this.#set({ rows: mergeRows(rows, changed, nextBeforeId === undefined) });
  }

  /** Shows other rows. */
  show(filter: TimelineFilter): void {
    if (JSON.stringify(filter) === JSON.stringify(this.state.value.filter)) return;
    this.state.set(emptyState(filter));
    this.#seq = undefined;
    this.#changed.clear();
    if (this.#link.state.value === "ready") void this.#begin();
  }

  /** The first page where there is none yet, then all changes since. */
  async #begin(): Promise<void> {
    const round = ++this.#round;
    const lastWatch = this.#watchId;
    this.#watchId = undefined;
    const filter = toParams(this.state.value.filter);
    try {
      if (lastWatch !== undefined)
        this.#link.call("watch.cancel", { watchId: lastWatch }).catch(() => undefined);
      if (this.#seq === undefined) {
        const page = await this.#link.call("timeline.page", { filter, limit: pageSize });
        if (round !== this.#round) return;
        this.#seq = page.lastSeq;
        this.#set({
          rows: page.rows,
          nextBeforeId: page.nextBeforeId,
          isLoading: false,
          isLoaded: true,
          problem: undefined,
        });
      }
      const { watchId } = await this.#link.call("timeline.watch", { filter, afterSeq: this.#seq });
      if (round === this.#round) this.#watchId = watchId;
      this.#set({ problem: undefined, isLoading: false });
    } catch (error) {
      if (round === this.#round) this.#set({ problem: failureText(error), isLoading: false });
    }
  }

  /** The next older page, if there is one. */
  async more(): Promise<void> {
    const { nextBeforeId, isLoading, filter } = this.state.value;
    if (nextBeforeId === undefined || isLoading) return;
    const round = this.#round;
    this.#set({ isLoading: true });
    try {
      const page = await this.#link.call("timeline.page", {
        filter: toParams(filter),
        beforeId: nextBeforeId,
        limit: pageSize,
      });
      if (filter !== this.state.value.filter) return;
      this.#set({
        rows: [...this.state.value.rows, ...page.rows],
        nextBeforeId: page.nextBeforeId,
        isLoading: false,
        problem: undefined,
      });
    } catch (error) {
      if (round === this.#round) this.#set({ isLoading: false, problem: failureText(error) });
    }
  }
}
