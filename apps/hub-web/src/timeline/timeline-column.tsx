import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { formatCount, plural } from "../format.ts";
import { useKey } from "../keys.ts";
import { CommandLine, Empty } from "../parts/empty.tsx";
import { Icon } from "../parts/icons.tsx";
import { Note } from "../parts/note.tsx";
import { ScrollArea } from "../parts/scroll-area.tsx";
import type { Agents } from "../state/agents.ts";
import type { HubLink } from "../state/hub-link.ts";
import { type Router, routeHash, runId, type TimelineFilter } from "../state/route.ts";
import { useStore } from "../state/store.ts";
import type { Timeline, TimelineGroup } from "../state/timeline.ts";
import { FilterBar } from "./filter-bar.tsx";
import { findTime, type TimelineItem, toItems } from "./items.ts";
import { DayHead, RowLine, SessionLine, TurnHead } from "./timeline-row.tsx";
import { useRowSize } from "./use-row-size.ts";
import { useStayAtEnd } from "./use-stay-at-end.ts";
import { useVirtualList } from "./use-virtual-list.ts";

/** Items before the end of the known rows of a session at which the others are asked for. */
const readAhead = 100;

interface TimelineColumnProps {
  readonly timeline: Timeline;
  readonly agents: Agents;
  readonly router: Router;
  readonly link: HubLink;
  /** The arguments of `harness` that run an agent under this hub. */
  readonly run: string | undefined;
  readonly className: string;
}

const isFiltered = (filter: TimelineFilter): boolean => Object.keys(filter).length > 0;

/** What is known: the sessions, or the hits of a search. */
const countText = (groups: readonly TimelineGroup[], isSearch: boolean): string => {
  const hits = groups.reduce((sum, { rows }) => sum + rows.length, 0);
  const more = groups.some(({ isComplete }) => !isComplete) ? "+" : "";
  return isSearch
    ? `${formatCount(hits)}${more} ${hits === 1 ? "hit" : "hits"}`
    : plural(groups.length, "session");
};

/** The session of an item that has rows further down which are not read yet. */
const unreadBelow = (items: readonly TimelineItem[], last: number): TimelineGroup | undefined => {
  for (let index = Math.min(last + readAhead, items.length - 1); index >= 0; index--) {
    const item = items[index];
    if (item?.kind === "session") return item.group.isOpen && !item.group.isComplete ? item.group : undefined;
    if (index < last - readAhead) return undefined;
  }
  return undefined;
};

/** What the agents did and why, by their sessions, those seen last first, as it happens. */
export function TimelineColumn(props: TimelineColumnProps) {
  const { timeline, agents, router, link, run = "run", className } = props;
  const { groups, filter, isSearch, isLoading, isFull, problem } = useStore(timeline.state);
  const known = useStore(agents.list);
  const route = useStore(router.route);
  const scroller = useRef<HTMLElement>(null);
  const [jumpMs, setJumpMs] = useState<number>();
  const size = useRowSize(scroller);
  const items = useMemo(() => toItems(groups), [groups]);
  const keys = useMemo(() => items.map(({ key }) => `${key}-${size.row}`), [items, size]);
  const rows = useMemo(() => items.flatMap((item) => (item.kind === "row" ? [item.row] : [])), [items]);
  const tools = useMemo(
    () => [...new Set(rows.slice(0, 5000).flatMap(({ tool }) => tool ?? []))].sort(),
    [rows],
  );
  const list = useVirtualList({
    scroller,
    keys,
    sizeOf: (index) => size[items[index]?.kind ?? "row"],
  });
  const openId = route.page === "timeline" ? route.id : undefined;
  const last = list.items.at(-1)?.index ?? 0;
  const unread = unreadBelow(items, last)?.key;
  useEffect(() => {
    if (unread !== undefined && last > readAhead) timeline.loadAll(unread);
  }, [timeline, unread, last]);
  useStayAtEnd(scroller, items, isLoading);
  useEffect(() => {
    if (jumpMs === undefined) return;
    const found = findTime(items, jumpMs);
    if (found?.group !== undefined) {
      if (!found.group.isOpen) timeline.toggle(found.group.key);
      timeline.loadAll(found.group.key);
    } else if (found !== undefined || !isLoading) {
      list.scrollTo(found?.index ?? items.length - 1, "start");
      setJumpMs(undefined);
    }
  }, [timeline, items, jumpMs, isLoading, list]);

  const linkTo = (id: number | string, to = filter) =>
    routeHash({ page: "timeline", id: String(id), filter: to });
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
    router.go(
      { page: "timeline", filter: next, id: openId === runId ? undefined : openId },
      { replace: true },
    );

  const draw = (item: TimelineItem, at: { readonly start: number; readonly size: number }) => {
    switch (item.kind) {
      case "day":
        return <DayHead key={item.key} atMs={item.atMs} {...at} />;
      case "session": {
        const { key, session } = item.group;
        const of = { agent: session.agent, session: session.session };
        return (
          <SessionLine
            key={item.key}
            group={item.group}
            isSearch={isSearch}
            readHref={linkTo(runId, of)}
            onToggle={() => timeline.toggle(key)}
            {...at}
          />
        );
      }
      case "turn": {
        const { key, kind: _, ...rest } = item;
        const { agent, session, turn } = item.row;
        const href = turn === undefined ? undefined : linkTo(runId, { agent, session, turn });
        return <TurnHead key={key} {...rest} readHref={href} {...at} />;
      }
      case "row": {
        const { row } = item;
        const isOpen = String(row.id) === openId;
        return <RowLine key={item.key} row={row} isOpen={isOpen} href={linkTo(row.id)} {...at} />;
      }
    }
  };

  return (
    <section class={`column timeline ${className}`} aria-label="Timeline">
      <header class="column-head">
        <h1>Timeline</h1>
        {groups.length > 0 && <span class="dim small nowrap">{countText(groups, isSearch)}</span>}
        <FilterBar
          filter={filter}
          agents={known.map(({ agent }) => agent)}
          tools={tools}
          link={link}
          onChange={setFilter}
          onJump={setJumpMs}
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
              return item === undefined ? null : draw(item, { start, size: height });
            })}
          </div>
          {groups.length === 0 && !isLoading && problem === undefined && (
            <NoRows isFiltered={isFiltered(filter)} onClear={() => setFilter({})} run={run} />
          )}
          {isFull && (
            <p class="loading dim">Older rows are more than a page can hold: choose an earlier time.</p>
          )}
          {isLoading && problem === undefined && <p class="loading dim">Loading …</p>}
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
