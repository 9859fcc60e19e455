import type { AgentState, Protection } from "@harnesskit/protocol/hub";
import { formatCount, line, plural } from "../format.ts";
import { Age } from "../parts/age.tsx";
import { AgentName } from "../parts/agent-name.tsx";
import { CommandLine, Empty } from "../parts/empty.tsx";
import { Page } from "../parts/page.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { useHello } from "../state/app.ts";
import { useNow } from "../state/now.ts";
import { routeHash } from "../state/route.ts";
import { useActivity, useAgents } from "../state/use-agents.ts";
import { SpentTable } from "./spent-table.tsx";

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

const hrefOf = (agent: string) => routeHash({ page: "agents", id: agent, filter: {} });

function Protected({ agent: { protection, unknownTools } }: { readonly agent: AgentState }) {
  const { title, text, tone } = protections[protection.kind];
  const tools = unknownTools.map(({ tool, calls }) => `${line(tool, 60)} (${formatCount(calls)})`);
  return (
    <>
      <span class={`chip ${tone}`}>{title}</span>
      <span class="dim small">{protection.detail === undefined ? text : line(protection.detail, 300)}</span>
      {tools.length > 0 && <span class="small">unknown tools: {tools.join(", ")}</span>}
    </>
  );
}

const columns: readonly Column<AgentState>[] = [
  {
    name: "Agent",
    show: ({ agent, framework, version }) => (
      <>
        <a class="plain-link" href={hrefOf(agent)}>
          <AgentName name={agent} />
        </a>
        <span class="dim small">
          {line(framework, 60)} {line(version, 30)}
        </span>
      </>
    ),
  },
  {
    name: "State",
    show: ({ isConnected, transport }) => (
      <>
        <span class={`chip ${isConnected ? "good" : ""}`}>{isConnected ? "connected" : "not connected"}</span>
        <span class="dim small">{transport}</span>
      </>
    ),
  },
  {
    name: "Last seen",
    show: ({ lastSeenMs }) => <Age atMs={lastSeenMs} />,
  },
  { name: "Protection", show: (agent) => <Protected agent={agent} /> },
  {
    name: "Actions",
    isNumber: true,
    show: ({ actions, sessions, unjudged }) => (
      <>
        {formatCount(actions)}
        <span class="dim small">in {plural(sessions, "session")}</span>
        {unjudged > 0 && <span class="chip bad">{formatCount(unjudged)} not judged</span>}
      </>
    ),
  },
  {
    name: "Waiting",
    isNumber: true,
    show: ({ waiting }) => (waiting > 0 ? <span class="chip warn">{formatCount(waiting)}</span> : "0"),
  },
];

export function AgentsPage() {
  const { value, problem } = useAgents();
  const hello = useHello();
  const sinceMs = Math.floor(useNow() / hourMs) * hourMs - 23 * hourMs;
  const { groups = [] } = useActivity({ by: ["agent", "subagent"], filter: { sinceMs } }).value ?? {};
  const list = value?.agents ?? [];
  return (
    <Page
      title="Agents"
      head={<p class="dim">Who asks this hub, and what was seen of how each is held to its answers.</p>}
      what="agents"
      problem={problem}
      isLoading={value === undefined}
    >
      {value !== undefined && list.length === 0 && (
        <Empty icon="agents" title="No agent has connected yet">
          <p>
            An agent that speaks AHP connects to the hub's socket. <code>harness run</code>, <code>chat</code>{" "}
            and <code>engine</code> find a running hub by themselves:
          </p>
          <CommandLine args={`${hello?.hub.commands?.run ?? "run"} "list files"`} />
        </Empty>
      )}
      {list.length > 0 && <Table columns={columns} rows={list} keyOf={({ agent }) => agent} />}
      {groups.length > 0 && (
        <section class="panel flush" aria-label="The last 24 hours">
          <SpentTable
            what="In the last 24 hours"
            groups={groups}
            nameOf={({ agent = "" }) => (
              <a href={hrefOf(agent)}>
                <AgentName name={agent} />
              </a>
            )}
          />
        </section>
      )}
    </Page>
  );
}
