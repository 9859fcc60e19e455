import { useState } from "preact/hooks";
import { line } from "../format.ts";
import { AgentName } from "../parts/agent-name.tsx";
import { Select } from "../parts/controls.tsx";
import { Note } from "../parts/note.tsx";
import { Page } from "../parts/page.tsx";
import { useDevice } from "../state/app.ts";
import { useNow } from "../state/now.ts";
import { routeHash } from "../state/route.ts";
import { useActivity, useAgents } from "../state/use-agents.ts";
import { useRead } from "../state/use-read.ts";
import { AgentCharts, type Period, periodStart, slotName } from "./agent-charts.tsx";
import { SessionControl } from "./session-control.tsx";
import { SpentTable } from "./spent-table.tsx";

const periods: readonly Period[] = [
  { label: "the last 24 hours", unit: "hour", count: 24 },
  { label: "the last 7 days", unit: "day", count: 7 },
  { label: "the last 30 days", unit: "day", count: 30 },
];

/** The name of a session by its id: what was asked in it first. */
const useSessionNames = (agent: string): ((session: string) => string) => {
  const { value } = useRead((client) => client.call("sessions.list", { agent, limit: 500 }), { key: agent });
  const titles = new Map(value?.sessions.map(({ session, title }) => [session, title]));
  return (session) => line(titles.get(session) ?? session, 100);
};

interface TurnsProps {
  readonly filter: { readonly agent: string; readonly session: string; readonly sinceMs: number };
  readonly name: string;
}

function Turns({ filter, name }: TurnsProps) {
  const { value } = useActivity({ by: ["turn"], filter });
  if (value === undefined) return null;
  return (
    <section class="panel flush" aria-label="Turns">
      <SpentTable
        what={`Turns of ${name}`}
        groups={value.groups}
        nameOf={({ turn }) => (turn === undefined ? "outside of a turn" : line(turn, 60))}
      />
    </section>
  );
}

interface AgentPageProps {
  readonly agent: string;
  /** The session whose turns are shown. */
  readonly session: string | undefined;
}

/** What one agent did, asked and spent: over time, in each session, and in each turn of a session. */
export function AgentPage({ agent, session }: AgentPageProps) {
  const [index, setIndex] = useState(0);
  const period = periods[index] ?? (periods[0] as Period);
  const startMs = periodStart(period, useNow());
  const filter = { agent, sinceMs: startMs };
  const over = useActivity({ by: [period.unit], filter });
  const sessions = useActivity({ by: ["session", "subagent"], filter });
  const nameOf = useSessionNames(agent);
  const mayTell = useDevice()?.may !== "look";
  const known = useAgents().value?.agents.find((each) => each.agent === agent);
  const groups = over.value?.groups ?? [];
  const head = (
    <>
      <p class="dim">
        <a href={routeHash({ page: "agents", filter: {} })}>Agents</a> ·{" "}
        {known !== undefined && `${line(known.framework, 60)} ${line(known.version, 30)} · `}
        <a href={routeHash({ page: "timeline", filter: { agent } })}>its timeline</a>
      </p>
      <Select
        label="Period"
        value={index}
        options={periods.map(({ label }, at) => [at, label] as const)}
        onChange={setIndex}
      />
    </>
  );
  return (
    <Page
      title={<AgentName name={agent} />}
      head={head}
      what="counts"
      problem={over.problem ?? sessions.problem}
      isLoading={over.value === undefined}
    >
      {over.value !== undefined && <AgentCharts period={period} startMs={startMs} groups={groups} />}
      {groups.length > 0 && (
        <details class="more panel flush">
          <summary>As a table</summary>
          <SpentTable
            what={period.unit === "day" ? "Day" : "Hour"}
            groups={groups}
            nameOf={({ startMs: at = 0 }) => slotName(period, at)}
          />
        </details>
      )}
      {over.value?.isPartial && (
        <Note tone="warn">The hub counted the newest rows alone: there are more.</Note>
      )}
      {session !== undefined && <Turns filter={{ ...filter, session }} name={nameOf(session)} />}
      {sessions.value !== undefined && (
        <section class="panel flush" aria-label="Sessions">
          <SpentTable
            what="Session"
            groups={sessions.value.groups}
            nameOf={({ session: id = "" }) => (
              <>
                <a
                  href={routeHash({ page: "agents", id: agent, filter: { session: id } })}
                  title={`session ${line(id, 200)}`}
                >
                  {nameOf(id)}
                </a>
                {mayTell && (
                  <SessionControl
                    of={{ agent, session: id }}
                    name={nameOf(id)}
                    isThere={known?.controllable.includes(id) === true}
                  />
                )}
              </>
            )}
          />
        </section>
      )}
    </Page>
  );
}
