import type { TimelineRow } from "@harnesskit/protocol/hub";
import { failureText, isLost } from "./failures.ts";
import type { HubLink } from "./hub-link.ts";
import type { TimelineFilter } from "./route.ts";
import { Store } from "./store.ts";

const pageSize = 200;
/** Changes of this time are shown together. */
const applyMs = 50;

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
  failedOnly: failed ? true : undefined,
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
  /** Ends what belongs to an earlier filter. */
  #round = new AbortController();
  #changed = new Map<number, TimelineRow>();

  constructor(link: HubLink, filter: TimelineFilter) {
    this.#link = link;
    this.state = new Store(emptyState(filter));
    void this.#follow(this.#round.signal);
  }

  #set(change: Partial<TimelineState>): void {
    this.state.update((state) => ({ ...state, ...change }));
  }

  #apply(): void {
    const changed = [...this.#changed.values()];
    this.#changed.clear();
    if (changed.length === 0) return;
    const { rows, nextBeforeId } = this.state.value;
    this.#set({ rows: mergeRows(rows, changed, nextBeforeId === undefined) });
  }

  /** Shows other rows. */
  show(filter: TimelineFilter): void {
    if (JSON.stringify(filter) === JSON.stringify(this.state.value.filter)) return;
    this.#round.abort();
    this.#round = new AbortController();
    this.#changed.clear();
    this.state.set(emptyState(filter));
    void this.#follow(this.#round.signal);
  }

  /** The first page, then each change. A lost connection is replaced by the client, and the changes go on where they ended. */
  async #follow(signal: AbortSignal): Promise<void> {
    const { client } = this.#link;
    const filter = toParams(this.state.value.filter);
    try {
      const page = await client.call("timeline.page", { filter, limit: pageSize });
      if (signal.aborted) return;
      const { rows, nextBeforeId, lastSeq: afterSeq } = page;
      this.#set({ rows, nextBeforeId, isLoading: false, isLoaded: true, problem: undefined });
      for await (const changed of client.watchTimeline({ filter, afterSeq, signal })) {
        if (signal.aborted) return;
        if (this.#changed.size === 0) setTimeout(() => this.#apply(), applyMs);
        for (const row of changed) this.#changed.set(row.id, row);
      }
    } catch (error) {
      if (signal.aborted) return;
      if (isLost(error) && client.state !== "closed") return this.#follow(signal);
      this.#set({ problem: failureText(error), isLoading: false });
    }
  }

  /** The next older page, if there is one. */
  async more(): Promise<void> {
    const { nextBeforeId: beforeId, isLoading, filter } = this.state.value;
    if (beforeId === undefined || isLoading) return;
    const { signal } = this.#round;
    this.#set({ isLoading: true });
    try {
      const params = { filter: toParams(filter), beforeId, limit: pageSize };
      const { rows, nextBeforeId } = await this.#link.client.call("timeline.page", params);
      if (signal.aborted) return;
      this.#set({
        rows: [...this.state.value.rows, ...rows],
        nextBeforeId,
        isLoading: false,
        problem: undefined,
      });
    } catch (error) {
      if (signal.aborted) return;
      this.#set({ isLoading: false, problem: isLost(error) ? undefined : failureText(error) });
    }
  }
}
