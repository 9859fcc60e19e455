import type { AgentState, Protection } from "@harnesskit/protocol/hub";
import type { SessionTally, TimelineStore } from "@harnesskit/timeline";
import { BoundedMap, type Clock, joinKey } from "@harnesskit/wire";

/** A way on which agents are connected: a connection, or all exchanges. */
export interface AgentLink {
  /** Names it among the links of this hub. */
  readonly name: string;
  readonly transport: "unix" | "websocket" | "http";
  /** Aborts when the other side sends no more: it may be gone, so no answer is taken for it. */
  readonly gone: AbortSignal;
  /** Sessions that were heard of on it, by agent and session. */
  readonly sessions: Map<string, { readonly agent: string; readonly session: string }>;
}

/** What was heard of an agent with one event. */
export interface Heard {
  readonly agent: string;
  readonly session: string;
  readonly isHook: boolean;
  readonly unknownTool: string | undefined;
}

interface Known {
  readonly agent: string;
  framework: string;
  version: string;
  transport: string;
  readonly firstSeenMs: number;
  lastSeenMs: number;
  asks: boolean;
  isHook: boolean;
  reports: boolean;
  readonly unknownTools: BoundedMap<string, number>;
}

const exchangeMs = 60_000;
/** Sessions of one connection that are remembered. */
const maxSessionsPerLink = 1000;
/** Tools of an agent that no table has and that are remembered. */
const maxUnknownTools = 50;

/** Which agents are here, and which were. */
export class Presence {
  readonly #clock: Clock;
  readonly #store: TimelineStore;
  readonly #links = new Set<AgentLink>();
  readonly #known: BoundedMap<string, Known>;
  readonly #describe: (agent: string) => string | undefined;
  #opened = 0;

  constructor(
    store: TimelineStore,
    clock: Clock,
    maxAgents: number,
    describe: (agent: string) => string | undefined,
  ) {
    this.#describe = describe;
    this.#store = store;
    this.#clock = clock;
    this.#known = new BoundedMap({ maxSize: maxAgents });
  }

  open(transport: AgentLink["transport"], gone: AbortSignal): AgentLink {
    const link: AgentLink = { name: `${transport} ${++this.#opened}`, transport, gone, sessions: new Map() };
    this.#links.add(link);
    return link;
  }

  /** A connection ended. Returns its sessions that no other connection has. */
  close(link: AgentLink): readonly { readonly agent: string; readonly session: string }[] {
    this.#links.delete(link);
    return [...link.sessions].filter(([key]) => !this.isHere(key)).map(([, session]) => session);
  }

  /** Whether a connection has heard of a session. */
  isHere(key: string): boolean {
    return [...this.#links].some(({ sessions }) => sessions.has(key));
  }

  introduced(
    link: AgentLink,
    agent: string,
    session: string,
    info: { framework: string; version: string },
  ): void {
    const known = this.#of(agent, link);
    known.framework = info.framework.slice(0, 200);
    known.version = info.version.slice(0, 100);
    this.#remember(link, agent, session);
  }

  heard(link: AgentLink, { agent, session, isHook, unknownTool }: Heard, asks: boolean): void {
    const known = this.#of(agent, link);
    if (unknownTool !== undefined)
      known.unknownTools.set(unknownTool, (known.unknownTools.get(unknownTool) ?? 0) + 1);
    if (asks) known.asks = true;
    else known.reports = true;
    if (isHook) known.isHook = true;
    // A hook's connection ends after each event, and its action goes on.
    else this.#remember(link, agent, session);
  }

  async list(controllable: (agent: string) => string[]): Promise<AgentState[]> {
    const sessions = await this.#store.sessions({ limit: 10_000 });
    const byAgent = new Map<string, SessionTally[]>();
    for (const tally of sessions) byAgent.set(tally.agent, [...(byAgent.get(tally.agent) ?? []), tally]);
    const names = new Set([...this.#known.keys(), ...byAgent.keys()]);
    const agents = [...names].map((agent) => ({
      ...this.#state(agent, this.#known.get(agent), byAgent.get(agent) ?? []),
      controllable: controllable(agent),
    }));
    return agents.sort((a, b) => b.lastSeenMs - a.lastSeenMs);
  }

  #of(agent: string, { transport }: AgentLink): Known {
    const nowMs = this.#clock.now();
    let known = this.#known.get(agent);
    if (known === undefined) {
      known = {
        agent,
        framework: "unknown",
        version: "",
        transport,
        firstSeenMs: nowMs,
        lastSeenMs: nowMs,
        asks: false,
        isHook: false,
        reports: false,
        unknownTools: new BoundedMap({ maxSize: maxUnknownTools }),
      };
      this.#known.set(agent, known);
    }
    known.transport = transport;
    known.lastSeenMs = nowMs;
    return known;
  }

  #remember({ sessions }: AgentLink, agent: string, session: string): void {
    const key = joinKey(agent, session);
    if (sessions.has(key) || sessions.size >= maxSessionsPerLink) return;
    sessions.set(key, { agent, session });
  }

  #connectionsOf(agent: string): number {
    const has = ({ transport, sessions }: AgentLink) =>
      transport !== "http" && [...sessions.values()].some((each) => each.agent === agent);
    return [...this.#links].filter(has).length;
  }

  #state(
    agent: string,
    known: Known | undefined,
    tallies: readonly SessionTally[],
  ): Omit<AgentState, "controllable"> {
    const connections = this.#connectionsOf(agent);
    const lastSeenMs = Math.max(known?.lastSeenMs ?? 0, ...tallies.map((tally) => tally.lastSeenMs));
    const isRecent = this.#clock.now() - (known?.lastSeenMs ?? 0) < exchangeMs;
    const sum = (of: (tally: SessionTally) => number) =>
      tallies.reduce((total, tally) => total + of(tally), 0);
    const actions = sum((tally) => tally.actions);
    const unjudged = sum((tally) => tally.unjudged);
    return {
      agent,
      framework: known?.framework ?? "unknown",
      version: known?.version ?? "",
      isConnected: connections > 0 || ((known?.transport === "http" || known?.isHook === true) && isRecent),
      connections,
      transport: known?.transport ?? "unknown",
      firstSeenMs: Math.min(known?.firstSeenMs ?? lastSeenMs, ...tallies.map((tally) => tally.firstSeenMs)),
      lastSeenMs,
      protection: protectionOf(known, { actions, unjudged }, this.#describe(agent)),
      sessions: tallies.length,
      ...{ actions, unjudged },
      waiting: sum((tally) => tally.waiting),
      unknownTools: [...(known?.unknownTools ?? [])].map(([tool, calls]) => ({ tool, calls })),
    };
  }
}

/** What was seen of an agent: no more is said. */
const protectionOf = (
  known: Known | undefined,
  { actions, unjudged }: Pick<AgentState, "actions" | "unjudged">,
  described: string | undefined,
): Protection => {
  const notJudged = `${unjudged} of ${actions} actions were not judged: the agent did not ask`;
  if (known?.isHook) {
    const detail = described ?? "checked and recorded: where its hook fails, most hosts let the call pass";
    return { kind: "hook", detail: unjudged > 0 ? `${notJudged}; ${detail}` : detail };
  }
  if (known?.asks !== true && known?.reports) return { kind: "notify", detail: "only reports what it did" };
  if (unjudged > 0) return { kind: "partial", detail: notJudged };
  if (known?.asks !== true) return { kind: "unknown", detail: described };
  if (described !== undefined) return { kind: "gate", detail: described };
  return { kind: "gate", detail: actions === 0 ? "asks; no action was seen yet" : askedBefore(actions) };
};

const askedBefore = (actions: number): string =>
  actions === 1
    ? "asked before the one action that was seen"
    : `asked before each of the ${actions} actions seen so far`;
