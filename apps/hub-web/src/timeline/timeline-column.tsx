import { useEffect, useMemo, useRef } from "preact/hooks";
import { formatCount } from "../format.ts";
import { useKey } from "../keys.ts";
import { CommandLine, Empty } from "../parts/empty.tsx";
import { Icon } from "../parts/icons.tsx";
import { Note } from "../parts/note.tsx";
import { ScrollArea } from "../parts/scroll-area.tsx";
import type { Agents } from "../state/agents.ts";
import { type Router, routeHash, type TimelineFilter } from "../state/route.ts";
import { useStore } from "../state/store.ts";
import type { Timeline } from "../state/timeline.ts";
import { FilterBar } from "./filter-bar.tsx";
import { toItems } from "./items.ts";
import { GroupHead, RowLine } from "./timeline-row.tsx";
import { useRowSize } from "./use-row-size.ts";
import { useVirtualList } from "./use-virtual-list.ts";

/** Items before the end at which the next page is asked for. */
const readAhead = 100;

interface TimelineColumnProps {
  readonly timeline: Timeline;
  readonly agents: Agents;
  readonly router: Router;
  /** The arguments of `harness` that run an agent under this hub. */
  readonly run: string | undefined;
  readonly className: string;
}

const isFiltered = (filter: TimelineFilter): boolean => Object.keys(filter).length > 0;

/** What the agents did and why, the newest first, as it happens. */
export function TimelineColumn({ timeline, agents, router, run = "run", className }: TimelineColumnProps) {
  const { rows, filter, nextBeforeId, isLoading, isLoaded, problem } = useStore(timeline.state);
  const known = useStore(agents.list);
  const route = useStore(router.route);
  const scroller = useRef<HTMLElement>(null);
  const size = useRowSize(scroller);
  const items = useMemo(() => toItems(rows), [rows]);
  const keys = useMemo(() => items.map(({ key }) => `${key}-${size.row}`), [items, size]);
  const tools = useMemo(
    () => [...new Set(rows.slice(0, 5000).flatMap(({ tool }) => tool ?? []))].sort(),
    [rows],
  );
  const list = useVirtualList({
    scroller,
    keys,
    sizeOf: (index) => (items[index]?.kind === "group" ? size.group : size.row),
  });
  const openId = route.page === "timeline" ? route.id : undefined;
  const last = list.items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (isLoaded && !isLoading && nextBeforeId !== undefined && last >= items.length - readAhead)
      void timeline.more();
  }, [timeline, isLoaded, isLoading, nextBeforeId, last, items.length]);

  const linkTo = (id: number) => routeHash({ page: "timeline", id: String(id), filter });
  const step = (by: 1 | -1) => {
    const at = rows.findIndex(({ id }) => String(id) === openId);
    const next =
      at === -1 ? (by === 1 ? 0 : rows.length - 1) : Math.min(rows.length - 1, Math.max(0, at + by));
    const row = rows[next];
    if (row === undefined) return;
    router.go({ page: "timeline", id: String(row.id) }, { replace: openId !== undefined });
    list.scrollTo(items.findIndex((item) => item.kind === "row" && item.row === row));
  };
  useKey("n", () => step(1));
  useKey("p", () => step(-1));
  const setFilter = (next: TimelineFilter) =>
    router.go({ page: "timeline", filter: next, id: openId }, { replace: true });

  return (
    <section class={`column timeline ${className}`} aria-label="Timeline">
      <header class="column-head">
        <h1>Timeline</h1>
        {isLoaded && rows.length > 0 && (
          <span class="dim small nowrap">
            {formatCount(rows.length)}
            {nextBeforeId !== undefined && "+"} {rows.length === 1 ? "row" : "rows"}
          </span>
        )}
        <FilterBar
          filter={filter}
          agents={known.map(({ agent }) => agent)}
          tools={tools}
          onChange={setFilter}
        />
      </header>
      <div class="scroll-frame">
        {list.offset > size.row * 4 && (
          <button
            type="button"
            class="button compact to-start"
            onClick={() => scroller.current?.scrollTo({ top: 0 })}
          >
            <span class="turned">
              <Icon name="down" size={14} />
            </span>
            Newest
          </button>
        )}
        <ScrollArea element={scroller} className="scroll rows" label="Rows of the timeline">
          {problem !== undefined && <Note tone="bad">The timeline cannot be read: {problem}</Note>}
          <div class="rows-space" style={{ height: `${list.totalSize}px` }}>
            {list.items.map(({ index, start, size: height }) => {
              const item = items[index];
              if (item === undefined) return null;
              const { row } = item;
              return item.kind === "group" ? (
                <GroupHead
                  key={item.key}
                  row={row}
                  isNewDay={item.isNewDay}
                  start={start}
                  size={height}
                  onSession={
                    filter.session === row.session
                      ? undefined
                      : () => setFilter({ ...filter, session: row.session })
                  }
                />
              ) : (
                <RowLine
                  key={item.key}
                  row={row}
                  start={start}
                  size={height}
                  isOpen={String(row.id) === openId}
                  href={linkTo(row.id)}
                />
              );
            })}
          </div>
          {rows.length === 0 && isLoaded && nextBeforeId === undefined && problem === undefined && (
            <NoRows isFiltered={isFiltered(filter)} onClear={() => setFilter({})} run={run} />
          )}
          {(isLoading || (!isLoaded && problem === undefined)) && <p class="loading dim">Loading …</p>}
        </ScrollArea>
      </div>
    </section>
  );
}

function NoRows({
  isFiltered: isNarrowed,
  run,
  onClear,
}: {
  readonly isFiltered: boolean;
  readonly run: string;
  readonly onClear: () => void;
}) {
  return isNarrowed ? (
    <Empty icon="search" title="No row fits this filter">
      <button type="button" class="button" onClick={onClear}>
        Show everything
      </button>
    </Empty>
  ) : (
    <Empty icon="timeline" title="No agent has asked this hub yet">
      <p>
        Each action of an agent becomes a row: what it did, which rule decided, who approved it, what came of
        it. Start one in a terminal:
      </p>
      <CommandLine args={`${run} "list files"`} />
    </Empty>
  );
}
