import { rowName, rowSubject } from "@harnesskit/hub/client";
import type { TimelineDetail } from "@harnesskit/protocol/hub";
import { useEffect, useId, useRef } from "preact/hooks";
import { block, formatClock, formatDay, formatMoment, line } from "../format.ts";
import { useKey } from "../keys.ts";
import { AgentName } from "../parts/agent-name.tsx";
import { CloseButton } from "../parts/controls.tsx";
import { DetailMessage } from "../parts/detail-message.tsx";
import { Markdown } from "../parts/markdown.tsx";
import { Note } from "../parts/note.tsx";
import { SafeText } from "../parts/safe-text.tsx";
import { ScrollArea } from "../parts/scroll-area.tsx";
import type { HubLink } from "../state/hub-link.ts";
import { type Router, routeHash, type TimelineFilter } from "../state/route.ts";
import { useStore } from "../state/store.ts";
import type { Timeline } from "../state/timeline.ts";
import { Input, ReadableContent, saidIn } from "./row-content.tsx";
import { DecisionChip, effectText, StateMark } from "./row-state.tsx";
import { useRun } from "./use-run.ts";
import { Waterfall } from "./waterfall.tsx";

interface EntryProps {
  readonly detail: TimelineDetail;
  readonly href: string;
}

/** A prompt or an answer as it was said, a tool with its input and output, another event as a line. */
function Entry({ detail, href }: EntryProps) {
  const { row, input, output, error } = detail;
  const said = row.tool === undefined ? saidIn(input) : undefined;
  const kind =
    row.type === "pre_prompt" ? "asked" : said !== undefined ? "answered" : row.tool ? "tool" : "other";
  return (
    <li class={`entry entry-${kind}`}>
      <header>
        <StateMark state={row.state} />
        <a class="clip" href={href}>
          <strong>{line(rowName(row), 60)}</strong>{" "}
          {kind !== "asked" && kind !== "answered" && <SafeText text={line(rowSubject(row), 300)} />}
        </a>
        {row.decision !== undefined && <DecisionChip row={row} />}
        <span class="dim nowrap">{effectText(row)}</span>
        <time class="dim" title={formatMoment(row.atMs)}>
          {formatClock(row.atMs)}
        </time>
      </header>
      {kind === "asked" && said !== undefined && (
        <p class="pre">
          <SafeText text={block(said)} />
        </p>
      )}
      {kind === "answered" && said !== undefined && <Markdown text={said} />}
      {kind === "tool" && <Input detail={detail} />}
      {error !== undefined && (
        <Note tone="bad">
          <span class="pre">
            <SafeText text={block(error.message)} />
          </span>
        </Note>
      )}
      {kind === "tool" && output !== undefined && <ReadableContent label="output" content={output} />}
    </li>
  );
}

interface RunViewProps {
  readonly link: HubLink;
  readonly router: Router;
  readonly timeline: Timeline;
  readonly run: TimelineFilter;
}

/** A session or a turn of it as a conversation, with its durations. */
export function RunView({ link, router, timeline, run }: RunViewProps) {
  const { groups } = useStore(timeline.state);
  const titleId = useId();
  const end = useRef<HTMLParagraphElement>(null);
  const panel = useRef<HTMLElement>(null);
  useEffect(() => panel.current?.focus({ preventScroll: true }), []);
  const group = groups.find(
    ({ session: { agent, session } }) => agent === run.agent && session === run.session,
  );
  const seq = group?.rows.reduce((newest, row) => Math.max(newest, row.seq), 0) ?? 0;
  const { details, hasMore, isLoaded, problem, more } = useRun(link, run, seq);
  const close = () => router.go({ page: "timeline", id: undefined });
  useKey("Escape", close);
  const latest = useRef(more);
  latest.current = more;
  useEffect(() => {
    if (!hasMore || end.current === null) return undefined;
    const observer = new IntersectionObserver(([entry]) => entry?.isIntersecting && latest.current());
    observer.observe(end.current);
    return () => observer.disconnect();
  }, [hasMore, details]);
  if (run.agent === undefined || run.session === undefined)
    return <DetailMessage text="Choose a session in the timeline to read it." onClose={close} />;
  const hrefOf = ({ id }: { readonly id: number }) =>
    routeHash({ page: "timeline", id: String(id), filter: run });
  const asked = details.find(({ row }) => row.type === "pre_prompt");
  const title = (asked && rowSubject(asked.row)) || group?.session.title || run.session;
  const firstMs = details[0]?.row.atMs;
  return (
    <section ref={panel} class="decision run" tabIndex={-1} aria-labelledby={titleId}>
      <header class="decision-head">
        <CloseButton onClose={close} />
        <div class="decision-title">
          <h1 id={titleId}>
            <SafeText text={line(title, 300)} />
          </h1>
          <p class="dim small inline">
            <AgentName name={run.agent} />
            {firstMs !== undefined && <span>{formatDay(firstMs)}</span>}
            <span class="clip">session {line(run.session, 100)}</span>
          </p>
        </div>
      </header>
      <ScrollArea className="decision-body" label="The conversation">
        {problem !== undefined && <Note tone="bad">{problem}</Note>}
        <Waterfall rows={details.map(({ row }) => row)} hrefOf={hrefOf} />
        <ol class="entries">
          {details.map((detail) => (
            <Entry key={detail.row.id} detail={detail} href={hrefOf(detail.row)} />
          ))}
        </ol>
        {isLoaded && details.length === 0 && problem === undefined && (
          <p class="dim">No row of it is kept any more.</p>
        )}
        {(hasMore || !isLoaded) && (
          <p ref={end} class="loading dim">
            Loading …
          </p>
        )}
      </ScrollArea>
    </section>
  );
}
