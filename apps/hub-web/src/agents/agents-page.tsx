import type { AgentState, Protection } from "@harnesskit/protocol/hub";
import { formatAge, formatCount, formatMoment, line } from "../format.ts";
import { AgentName } from "../parts/agent-name.tsx";
import { CommandLine, Empty } from "../parts/empty.tsx";
import { Note } from "../parts/note.tsx";
import { Table } from "../parts/table.tsx";
import type { Agents } from "../state/agents.ts";
import type { HubLink } from "../state/hub-link.ts";
import { useNow } from "../state/now.ts";
import { routeHash } from "../state/route.ts";
import { useStore } from "../state/store.ts";
import { SpentTable } from "./spent-table.tsx";
import { useActivity } from "./use-activity.ts";

const hourMs = 3_600_000;

const protections: Readonly<
  Record<Protection["kind"], { readonly title: string; readonly text: string; readonly tone: string }>
> = {
  gate: { title: "Gate", text: "asked before each action seen so far", tone: "good" },
  partial: { title: "Partly judged", text: "did some actions without asking", tone: "bad" },
  hook: {
    title: "Hook",
    text: "a hook of the agent asks; what it does without an answer depends on the agent",
    tone: "warn",
  },
  notify: { title: "Reports only", text: "nothing is held back", tone: "bad" },
  unknown: { title: "Unknown", text: "it has not said how it is held to an answer", tone: "" },
};

function AgentRow({ agent, nowMs }: { readonly agent: AgentState; readonly nowMs: number }) {
  const { title, text, tone } = protections[agent.protection.kind];
  return (
    <tr>
      <th scope="row">
        <a class="plain-link" href={routeHash({ page: "agents", id: agent.agent, filter: {} })}>
          <AgentName name={agent.agent} />
        </a>
        <span class="dim small">
          {line(agent.framework, 60)} {line(agent.version, 30)}
        </span>
      </th>
      <td data-label="State">
        <span class={`chip ${agent.isConnected ? "good" : ""}`}>
          {agent.isConnected ? "connected" : "not connected"}
        </span>
        <span class="dim small">{agent.transport}</span>
      </td>
      <td data-label="Last seen" title={formatMoment(agent.lastSeenMs)}>
        {formatAge(agent.lastSeenMs, nowMs)}
      </td>
      <td data-label="Protection">
        <span class={`chip ${tone}`}>{title}</span>
        <span class="dim small">
          {agent.protection.detail === undefined ? text : line(agent.protection.detail, 300)}
        </span>
        {agent.unknownTools.length > 0 && (
          <span class="small">
            unknown tools:{" "}
            {agent.unknownTools
              .map(({ tool, calls }) => `${line(tool, 60)} (${formatCount(calls)})`)
              .join(", ")}
          </span>
        )}
      </td>
      <td data-label="Actions" class="number-cell">
        {formatCount(agent.actions)}
        <span class="dim small">
          in {formatCount(agent.sessions)} {agent.sessions === 1 ? "session" : "sessions"}
        </span>
        {agent.unjudged > 0 && <span class="chip bad">{formatCount(agent.unjudged)} not judged</span>}
      </td>
      <td data-label="Waiting" class="number-cell">
        {agent.waiting > 0 ? <span class="chip warn">{formatCount(agent.waiting)}</span> : "0"}
      </td>
    </tr>
  );
}

interface AgentsPageProps {
  readonly link: HubLink;
  readonly agents: Agents;
  /** The arguments of `harness` that run an agent under this hub. */
  readonly run: string | undefined;
}

export function AgentsPage({ link, agents, run = "run" }: AgentsPageProps) {
  const list = useStore(agents.list);
  const isLoaded = useStore(agents.isLoaded);
  const problem = useStore(agents.problem);
  const nowMs = useNow();
  const sinceMs = Math.floor(nowMs / hourMs) * hourMs - 23 * hourMs;
  const { value } = useActivity(link, { by: ["agent", "subagent"], filter: { sinceMs } });
  return (
    <main class="page">
      <header class="page-head">
        <h1>Agents</h1>
        <p class="dim">Who asks this hub, and what was seen of how each is held to its answers.</p>
      </header>
      {problem !== undefined && <Note tone="bad">The agents cannot be read: {problem}</Note>}
      {isLoaded && list.length === 0 && (
        <Empty icon="agents" title="No agent has connected yet">
          <p>
            An agent that speaks AHP connects to the hub's socket. <code>harness run</code>, <code>chat</code>{" "}
            and <code>engine</code> find a running hub by themselves:
          </p>
          <CommandLine args={`${run} "list files"`} />
        </Empty>
      )}
      {list.length > 0 && (
        <Table
          columns={["Agent", "State", "Last seen", "Protection", "Actions", "Waiting"]}
          numbers={["Actions", "Waiting"]}
        >
          {list.map((agent) => (
            <AgentRow key={agent.agent} agent={agent} nowMs={nowMs} />
          ))}
        </Table>
      )}
      {value !== undefined && value.groups.length > 0 && (
        <section class="panel flush" aria-label="The last 24 hours">
          <SpentTable
            what="In the last 24 hours"
            groups={value.groups}
            nowMs={nowMs}
            nameOf={({ agent = "" }) => (
              <a href={routeHash({ page: "agents", id: agent, filter: {} })}>
                <AgentName name={agent} />
              </a>
            )}
          />
        </section>
      )}
    </main>
  );
}
