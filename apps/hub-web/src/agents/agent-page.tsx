import { useId, useState } from "preact/hooks";
import { line } from "../format.ts";
import { AgentName } from "../parts/agent-name.tsx";
import { Select } from "../parts/controls.tsx";
import { Note } from "../parts/note.tsx";
import type { Agents } from "../state/agents.ts";
import type { HubLink } from "../state/hub-link.ts";
import { useNow } from "../state/now.ts";
import { routeHash } from "../state/route.ts";
import { useStore } from "../state/store.ts";
import { AgentCharts, type Period, periodStart, slotName } from "./agent-charts.tsx";
import { SessionControl } from "./session-control.tsx";
import { SpentTable } from "./spent-table.tsx";
import { useActivity } from "./use-activity.ts";

const periods: readonly Period[] = [
  { label: "the last 24 hours", unit: "hour", count: 24 },
  { label: "the last 7 days", unit: "day", count: 7 },
  { label: "the last 30 days", unit: "day", count: 30 },
];

interface AgentPageProps {
  readonly link: HubLink;
  readonly agents: Agents;
  readonly agent: string;
  /** The session whose turns are shown. */
  readonly session: string | undefined;
}

interface TurnsProps {
  readonly link: HubLink;
  readonly filter: { readonly agent: string; readonly session: string; readonly sinceMs: number };
  readonly nowMs: number;
}

function Turns({ link, filter, nowMs }: TurnsProps) {
  const { value } = useActivity(link, { by: ["turn"], filter });
  if (value === undefined) return null;
  return (
    <section class="panel flush" aria-label="Turns">
      <SpentTable
        what={`Turns of ${line(filter.session, 60)}`}
        groups={value.groups}
        nowMs={nowMs}
        nameOf={({ turn }) => (turn === undefined ? "outside of a turn" : line(turn, 60))}
      />
    </section>
  );
}

/** What one agent did, asked and spent: over time, in each session, and in each turn of a session. */
export function AgentPage({ link, agents, agent, session }: AgentPageProps) {
  const nowMs = useNow();
  const list = useStore(agents.list);
  const [index, setIndex] = useState(0);
  const periodId = useId();
  const period = periods[index] ?? (periods[0] as Period);
  const startMs = periodStart(period, nowMs);
  const filter = { agent, sinceMs: startMs };
  const over = useActivity(link, { by: [period.unit], filter });
  const sessions = useActivity(link, { by: ["session", "subagent"], filter });
  const mayTell = link.hello.value?.device?.may !== "look";
  const known = list.find((each) => each.agent === agent);
  const problem = over.problem ?? sessions.problem;
  return (
    <main class="page">
      <header class="page-head">
        <p class="small">
          <a href={routeHash({ page: "agents", filter: {} })}>Agents</a>
        </p>
        <h1>
          <AgentName name={agent} />
        </h1>
        <p class="dim">
          {known !== undefined && `${line(known.framework, 60)} ${line(known.version, 30)} · `}
          <a href={routeHash({ page: "timeline", filter: { agent } })}>its timeline</a>
        </p>
        <label class="inline-field" for={periodId}>
          <span class="dim">in</span>
          <Select
            id={periodId}
            value={index}
            options={periods.map(({ label }, at) => [at, label] as const)}
            onChange={setIndex}
          />
        </label>
      </header>
      {problem !== undefined && <Note tone="bad">It cannot be counted: {problem}</Note>}
      {over.value !== undefined && (
        <AgentCharts period={period} startMs={startMs} groups={over.value.groups} />
      )}
      {over.value !== undefined && over.value.groups.length > 0 && (
        <details class="more panel flush">
          <summary>As a table</summary>
          <SpentTable
            what={period.unit === "day" ? "Day" : "Hour"}
            groups={over.value.groups}
            nowMs={nowMs}
            nameOf={({ startMs: at = 0 }) => slotName(period, at)}
          />
        </details>
      )}
      {over.value?.isPartial && (
        <Note tone="warn">The hub counted the newest rows alone: there are more.</Note>
      )}
      {session !== undefined && <Turns link={link} filter={{ ...filter, session }} nowMs={nowMs} />}
      {sessions.value !== undefined && (
        <section class="panel flush" aria-label="Sessions">
          <SpentTable
            what="Session"
            groups={sessions.value.groups}
            nowMs={nowMs}
            nameOf={({ session: id = "" }) => (
              <>
                <a href={routeHash({ page: "agents", id: agent, filter: { session: id } })}>{line(id, 60)}</a>
                {mayTell && (
                  <SessionControl
                    link={link}
                    agent={agent}
                    session={id}
                    isThere={known?.controllable.includes(id) === true}
                  />
                )}
              </>
            )}
          />
        </section>
      )}
    </main>
  );
}
