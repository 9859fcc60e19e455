import { happenings } from "@harnesskit/hub/client";
import type { TimelineDetail } from "@harnesskit/protocol/hub";
import { rowName, rowSubject } from "@harnesskit/timeline";
import { useEffect } from "preact/hooks";
import { block, formatClock, formatDay, formatMoment, line } from "../format.ts";
import { AgentName } from "../parts/agent-name.tsx";
import { Detail } from "../parts/detail.tsx";
import { Markdown } from "../parts/markdown.tsx";
import { Note } from "../parts/note.tsx";
import { Line, SafeText } from "../parts/safe-text.tsx";
import { useSeenToEnd } from "../parts/use-seen-to-end.ts";
import { useApp, useRoute } from "../state/app.ts";
import { type Run, routeHash } from "../state/route.ts";
import { useStore } from "../state/store.ts";
import { Content, ErrorNote, Input, saidIn } from "./row-content.tsx";
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
      <header class="inline small">
        <StateMark state={row.state} />
        <a class="clip" href={href}>
          <strong>{line(rowName(row), 60)}</strong>{" "}
          {kind !== "asked" && kind !== "answered" && <Line text={rowSubject(row)} max={300} />}
        </a>
        {row.decision !== undefined && <DecisionChip row={row} />}
        <span class="dim nowrap">{effectText(row)}</span>
        <time class="dim" title={formatMoment(row.atMs)}>
          {formatClock(row.atMs)}
        </time>
      </header>
      {kind === "asked" && said !== undefined && (
        <p class="pre tinted">
          <SafeText text={block(said)} />
        </p>
      )}
      {kind === "answered" && said !== undefined && <Markdown text={said} />}
      {kind === "tool" && <Input detail={detail} />}
      {error !== undefined && <ErrorNote error={error} />}
      {kind === "tool" && output !== undefined && (
        <Content label="output" content={{ ...output, value: saidIn(output) ?? output.value }} />
      )}
    </li>
  );
}

/** A session or a turn of it as a conversation, with its durations. */
export function RunView({ run }: { readonly run: Run }) {
  const { router, timeline } = useApp();
  const { groups } = useStore(timeline.state);
  const { filter } = useRoute();
  const { details, hasMore, isLoaded, problem, more } = useRun(run);
  const { end, isSeen } = useSeenToEnd(String(details.length));
  const close = () => router.go({ page: "timeline", id: undefined });
  useEffect(() => {
    if (hasMore && isSeen) more();
  }, [hasMore, isSeen, details]);
  const hrefOf = ({ id }: { readonly id: number }) => routeHash({ page: "timeline", id: String(id), filter });
  const rows = happenings(details.map(({ row }) => row));
  const detailOf = new Map(details.map((detail) => [detail.row.id, detail]));
  const asked = rows.find(({ type }) => type === "pre_prompt");
  const known = groups.find(
    ({ session: { agent, session } }) => agent === run.agent && session === run.session,
  );
  const firstMs = rows[0]?.atMs;
  return (
    <Detail
      className="run"
      title={<Line text={(asked && rowSubject(asked)) || known?.session.title || run.session} />}
      afterTitle={
        <p class="dim small inline">
          <AgentName name={run.agent} />
          {firstMs !== undefined && <span>{formatDay(firstMs)}</span>}
          <span class="clip">session {line(run.session, 100)}</span>
        </p>
      }
      label="The conversation"
      onClose={close}
    >
      {problem !== undefined && <Note tone="bad">{problem}</Note>}
      <Waterfall rows={rows} hrefOf={hrefOf} />
      <ol class="lines wide-gap">
        {rows.flatMap((row) => {
          const detail = detailOf.get(row.id);
          return detail === undefined ? [] : <Entry key={row.id} detail={detail} href={hrefOf(row)} />;
        })}
      </ol>
      {isLoaded && rows.length === 0 && problem === undefined && (
        <p class="dim">No row of it is kept any more.</p>
      )}
      {(hasMore || !isLoaded) && (
        <div ref={end} class="loading dim">
          Loading …
        </div>
      )}
    </Detail>
  );
}
