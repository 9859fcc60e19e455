import type { HubSessionState, TimelineFilter as RowFilter, TimelineRow } from "@harnesskit/protocol/hub";
import { joinKey } from "@harnesskit/wire";
import { failureText, isLost } from "./failures.ts";
import type { HubLink } from "./hub-link.ts";
import type { TimelineFilter } from "./route.ts";
import { RowList } from "./row-list.ts";
import { Store } from "./store.ts";

const pageSize = 500;
/** Changes of this time are shown together; the more rows there are, the longer. */
const applyMs = 50;
const rowsPerMs = 100;
/** Sessions that open by themselves: the newest at first, and later those that begin. */
const maxOpened = 5;
const enoughActions = 20;

/** A session of an agent, with its rows where they are shown. */
export interface TimelineGroup {
  readonly key: string;
  readonly session: HubSessionState;
  /** The newest first. */
  readonly rows: readonly TimelineRow[];
  readonly isOpen: boolean;
  /** Whether `rows` are all that there are. */
  readonly isComplete: boolean;
}

export interface TimelineState {
  readonly filter: TimelineFilter;
  /** Those seen last first; of a search, those with the newest hits. */
  readonly groups: readonly TimelineGroup[];
  readonly isSearch: boolean;
  readonly isLoading: boolean;
  /** Whether older rows are left out: more than the page holds. */
  readonly isFull: boolean;
  readonly problem: string | undefined;
}

/** Whether rows are looked for, and not sessions. */
const isSearch = ({ tool, decision, failed, text }: TimelineFilter): boolean =>
  [tool, decision, failed, text].some((each) => each !== undefined);

export const toParams = ({ failed, since, until, ...rest }: TimelineFilter): RowFilter => ({
  ...rest,
  failedOnly: failed ? true : undefined,
  sinceMs: since === undefined ? undefined : Date.parse(since),
  untilMs: until === undefined ? undefined : Date.parse(until),
});

const bySession = (rows: readonly TimelineRow[]): ReadonlyMap<string, readonly TimelineRow[]> => {
  const found = new Map<string, TimelineRow[]>();
  for (const row of rows) {
    const key = joinKey(row.agent, row.session);
    const known = found.get(key);
    if (known === undefined) found.set(key, [row]);
    else known.push(row);
  }
  return found;
};

/** The sessions that fit the filter with the rows of those that are open, or the hits of a search, and as they change. */
export class Timeline {
  readonly state: Store<TimelineState>;
  readonly #link: HubLink;
  /** Ends what belongs to an earlier filter. */
  #round = new AbortController();
  #filter: TimelineFilter;
  #sessions = new Map<string, HubSessionState>();
  /** The rows of open sessions by their key. */
  #lists = new Map<string, RowList>();
  #closed = new Set<string>();
  /** The sessions that had begun when the first were read, or were opened since. */
  #known = new Set<string>();
  #begun = 0;
  #hits: RowList | undefined;
  #changed = new Map<number, TimelineRow>();
  #isLoaded = false;
  #isPlanned = false;
  #problem: string | undefined;

  constructor(link: HubLink, filter: TimelineFilter) {
    this.#link = link;
    this.#filter = filter;
    this.state = new Store(this.#read());
    void this.#follow(this.#round.signal);
  }

  /** Shows other rows. */
  show(filter: TimelineFilter): void {
    if (JSON.stringify(filter) === JSON.stringify(this.#filter)) return;
    this.#round.abort();
    this.#round = new AbortController();
    this.#filter = filter;
    this.#sessions = new Map();
    this.#lists = new Map();
    this.#closed = new Set();
    this.#changed = new Map();
    this.#begun = 0;
    this.#isLoaded = false;
    this.#problem = undefined;
    void this.#follow(this.#round.signal);
    this.state.set(this.#read());
  }

  /** Opens a session, or closes it. */
  toggle(key: string): void {
    if (this.#lists.delete(key)) this.#closed.add(key);
    else this.#open(key);
    this.state.set(this.#read());
  }

  /** Reads all rows of an open session; of a search all hits. */
  loadAll(key: string): void {
    void (this.#hits ?? this.#lists.get(key))?.load(true);
  }

  #newList(filter: TimelineFilter): RowList {
    return new RowList({
      link: this.#link,
      filter: toParams(filter),
      signal: this.#round.signal,
      onChange: () => this.#plan(),
      onError: (error) => this.#fail(error),
    });
  }

  #open(key: string): void {
    const found = this.#sessions.get(key);
    if (found === undefined || this.#lists.has(key)) return;
    this.#closed.delete(key);
    const { since, until } = this.#filter;
    const { agent, session } = found;
    const list = this.#newList({ agent, session, since, until });
    this.#lists.set(key, list);
    void list.load();
  }

  /** Opens sessions until there is something to read. */
  #openNewest(): void {
    let actions = 0;
    for (const { key, session } of this.#sessionGroups().slice(0, maxOpened)) {
      if (actions < enoughActions) this.#open(key);
      actions += session.actions;
    }
  }

  /** Opens sessions that begin while one looks. */
  #openBegun(changed: readonly TimelineRow[]): void {
    for (const { agent, session } of changed) {
      const key = joinKey(agent, session);
      if (this.#known.has(key)) continue;
      this.#known.add(key);
      if (this.#begun++ < maxOpened) this.#open(key);
    }
  }

  #read(): TimelineState {
    const lists = this.#hits === undefined ? [...this.#lists.values()] : [this.#hits];
    return {
      filter: this.#filter,
      groups: this.#hits === undefined ? this.#sessionGroups() : this.#hitGroups(this.#hits),
      isSearch: this.#hits !== undefined,
      isLoading: !this.#isLoaded || lists.some(({ isLoading }) => isLoading),
      isFull: lists.some(({ isFull }) => isFull),
      problem: this.#problem,
    };
  }

  #sessionGroups(): readonly TimelineGroup[] {
    const sessions = [...this.#sessions].sort(([, a], [, b]) => b.lastSeenMs - a.lastSeenMs);
    return sessions.map(([key, session]) => {
      const list = this.#lists.get(key);
      const isComplete = list?.isComplete ?? true;
      return { key, session, rows: list?.rows ?? [], isOpen: list !== undefined, isComplete };
    });
  }

  #hitGroups({ rows, isComplete }: RowList): readonly TimelineGroup[] {
    return [...bySession(rows)].flatMap(([key, hits]) => {
      const known = this.#sessions.get(key);
      // Its sessions are read beside the hits.
      if (known === undefined) return [];
      const session = { ...known, firstSeenMs: hits.at(-1)?.atMs ?? 0, lastSeenMs: hits[0]?.atMs ?? 0 };
      const isOpen = !this.#closed.has(key);
      return { key, session, rows: hits, isOpen, isComplete };
    });
  }

  #plan(): void {
    if (this.#isPlanned) return;
    this.#isPlanned = true;
    const count = this.state.value.groups.reduce((sum, { rows }) => sum + rows.length, 0);
    setTimeout(() => this.#apply(), Math.max(applyMs, count / rowsPerMs));
  }

  #apply(): void {
    this.#isPlanned = false;
    const changed = [...this.#changed.values()];
    this.#changed.clear();
    this.#hits?.apply(changed);
    for (const [key, rows] of bySession(changed)) this.#lists.get(key)?.apply(rows);
    this.state.set(this.#read());
  }

  #fail(error: unknown): void {
    if (!isLost(error)) this.#problem = failureText(error);
    this.#plan();
  }

  /** Reads the sessions of the filter, and of these those that were seen since. */
  async #readSessions(signal: AbortSignal, seenSinceMs = 0): Promise<void> {
    const { agent, session, sinceMs = 0, untilMs } = toParams(this.#filter);
    let after: HubSessionState | undefined;
    do {
      const params = { agent, session, sinceMs: Math.max(sinceMs, seenSinceMs), untilMs, after };
      const { sessions } = await this.#link.client.call("sessions.list", { ...params, limit: pageSize });
      if (signal.aborted) return;
      for (const each of sessions) this.#sessions.set(joinKey(each.agent, each.session), each);
      after = sessions.length === pageSize ? sessions.at(-1) : undefined;
      this.#plan();
    } while (after !== undefined);
  }

  /** The sessions and rows, then each change. A lost connection is replaced by the client, and the changes go on where they ended. */
  async #follow(signal: AbortSignal): Promise<void> {
    const { client } = this.#link;
    const filter = toParams(this.#filter);
    this.#hits = isSearch(this.#filter) ? this.#newList(this.#filter) : undefined;
    try {
      const { lastSeq: afterSeq } = await client.call("timeline.page", { limit: 1 });
      await Promise.all([this.#readSessions(signal), this.#hits?.load()]);
      if (signal.aborted) return;
      if (this.#hits === undefined) this.#openNewest();
      this.#known = new Set(this.#sessions.keys());
      // What a lost connection has ended goes on.
      for (const list of this.#lists.values()) void list.load();
      this.#isLoaded = true;
      this.#problem = undefined;
      this.#plan();
      for await (const changed of client.watchTimeline({ filter, afterSeq, signal })) {
        await this.#readSessions(signal, Math.min(...changed.map(({ changedAtMs }) => changedAtMs)));
        if (signal.aborted) return;
        if (this.#hits === undefined) this.#openBegun(changed);
        for (const row of changed) this.#changed.set(row.id, row);
        this.#plan();
      }
    } catch (error) {
      if (signal.aborted) return;
      if (isLost(error) && client.state !== "closed") return this.#follow(signal);
      this.#fail(error);
    }
  }
}
