import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { formatCount, plural } from "../format.ts";
import { stepIn, useKey } from "../keys.ts";
import { Button } from "../parts/controls.tsx";
import { CommandLine, Empty } from "../parts/empty.tsx";
import { Note } from "../parts/note.tsx";
import { ScrollArea } from "../parts/scroll-area.tsx";
import { useWidth } from "../parts/use-width.ts";
import { useApp, useHello } from "../state/app.ts";
import { routeHash, type TimelineFilter } from "../state/route.ts";
import { useStore } from "../state/store.ts";
import type { TimelineGroup } from "../state/timeline.ts";
import { useAgents } from "../state/use-agents.ts";
import { FilterBar } from "./filter-bar.tsx";
import { findTime, type TimelineItem, toItems } from "./items.ts";
import { DayHead, RowLine, SessionLine, TurnHead } from "./timeline-row.tsx";
import { useVirtualList } from "./use-virtual-list.ts";

/** Items before the end of the known rows of a session at which the others are asked for. */
const readAhead = 100;

/** The heights of items in pixels: one line for each row, or two below a width, as the styles have it. */
const wide = { day: 34, session: 44, turn: 34, row: 38 } as const;
const narrow = { day: 32, session: 62, turn: 34, row: 62 } as const;
const narrowPx = 620;

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
export function TimelineColumn({ className }: { readonly className: string }) {
  const { timeline, router } = useApp();
  const { groups, filter, isSearch, isLoading, isFull, problem } = useStore(timeline.state);
  const known = useAgents().value?.agents ?? [];
  const route = useStore(router.route);
  const scroller = useRef<HTMLElement>(null);
  const [jumpMs, setJumpMs] = useState<number>();
  const size = (useWidth(scroller) ?? 0) < narrowPx ? narrow : wide;
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

  const step = (by: 1 | -1) => {
    const row = stepIn(rows, ({ id }) => String(id) === openId, by);
    if (row === undefined) return;
    router.go({ page: "timeline", id: String(row.id) }, { replace: openId !== undefined });
    list.scrollTo(items.findIndex((item) => item.kind === "row" && item.row === row));
  };
  useKey("n", () => step(1));
  useKey("p", () => step(-1));
  /** To an end that moves on while older rows are read. */
  const toEnd = (event: KeyboardEvent) => {
    if (event.key !== "End") return;
    event.preventDefault();
    list.toEnd();
  };
  const setFilter = (next: TimelineFilter) =>
    router.go({ page: "timeline", filter: next }, { replace: true });

  const draw = (item: TimelineItem, at: { readonly start: number; readonly size: number }) => {
    switch (item.kind) {
      case "day":
        return <DayHead key={item.key} atMs={item.atMs} {...at} />;
      case "session": {
        const { key, session } = item.group;
        const run = { agent: session.agent, session: session.session };
        return (
          <SessionLine
            key={item.key}
            group={item.group}
            isSearch={isSearch}
            readHref={routeHash({ page: "timeline", run, filter })}
            onToggle={() => timeline.toggle(key)}
            {...at}
          />
        );
      }
      case "turn": {
        const { key, kind: _, ...rest } = item;
        const { agent, session, turn } = item.row;
        const run = { agent, session, turn };
        const href = turn === undefined ? undefined : routeHash({ page: "timeline", run, filter });
        return <TurnHead key={key} {...rest} readHref={href} {...at} />;
      }
      case "row": {
        const id = String(item.row.id);
        const href = routeHash({ page: "timeline", id, filter });
        return <RowLine key={item.key} row={item.row} isOpen={id === openId} href={href} {...at} />;
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
          onChange={setFilter}
          onJump={setJumpMs}
        />
      </header>
      <div class="scroll-frame">
        {list.offset > size.row * 4 && (
          <Button look="compact to-start" icon="up" onClick={() => scroller.current?.scrollTo({ top: 0 })}>
            Newest
          </Button>
        )}
        <ScrollArea element={scroller} className="scroll rows" label="Rows of the timeline" onKeyDown={toEnd}>
          {problem !== undefined && <Note tone="bad">The timeline cannot be read: {problem}</Note>}
          <div class="rows-space" style={{ height: `${list.totalSize}px` }}>
            {list.items.map(({ index, start, size: height }) => {
              const item = items[index];
              return item === undefined ? null : draw(item, { start, size: height });
            })}
          </div>
          {groups.length === 0 && !isLoading && problem === undefined && (
            <NoRows filter={filter} onClear={() => setFilter({})} />
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

interface NoRowsProps {
  readonly filter: TimelineFilter;
  readonly onClear: () => void;
}

function NoRows({ filter, onClear }: NoRowsProps) {
  const run = useHello()?.hub.commands?.run ?? "run";
  if (Object.keys(filter).length > 0)
    return (
      <Empty icon="search" title="No row fits this filter">
        <Button onClick={onClear}>Show everything</Button>
      </Empty>
    );
  return (
    <Empty icon="timeline" title="No agent has asked this hub yet">
      <p>
        Each action of an agent becomes a row: what it did, which rule decided, who approved it, what came of
        it. Start one in a terminal:
      </p>
      <CommandLine args={`${run} "list files"`} />
    </Empty>
  );
}
