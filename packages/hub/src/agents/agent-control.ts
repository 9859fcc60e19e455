import type { JsonValue } from "@harnesskit/protocol/envelope";
import {
  type ControlCommand,
  type ControlOutcome,
  ControlQuerySchema,
  type HubMethodParams,
} from "@harnesskit/protocol/hub";
import { type Clock, type CreateId, createDeferred, type Deferred, joinKey } from "@harnesskit/wire";
import { agentRefused } from "../api/api-errors.ts";
import type { AgentLink } from "./presence.ts";

interface Listener {
  /** Not yet taken. */
  commands: ControlCommand[];
  wake: () => void;
}

interface Sent {
  readonly link: AgentLink;
  readonly done: Deferred<void>;
}

export interface AgentControlOptions {
  readonly clock: Clock;
  readonly createId: CreateId;
  /** How long an agent's query is held. */
  readonly holdMs: number;
  /** How long an agent may take to carry out a command. */
  readonly answerWithinMs: number;
}

/** Commands of one agent that wait for it. */
const maxCommands = 100;

/** Tells agents what a human wants: each takes its commands with a query that the hub holds, and answers with its next one. */
export class AgentControl {
  readonly #options: AgentControlOptions;
  /** Connections that have asked for commands. */
  readonly #listeners = new Map<AgentLink, Listener>();
  readonly #sent = new Map<string, Sent>();

  constructor(options: AgentControlOptions) {
    this.#options = options;
  }

  /** The answer to an agent's query: its commands, once there are some or the time is over. */
  async answer(link: AgentLink, payload: JsonValue, signal: AbortSignal): Promise<{ answer: JsonValue }> {
    const asked = ControlQuerySchema.safeParse(payload);
    for (const outcome of asked.data?.done ?? []) this.#settle(link, outcome);
    const listener = this.#listeners.get(link) ?? { commands: [], wake: () => {} };
    this.#listeners.set(link, listener);
    if (listener.commands.length === 0) {
      const woken = createDeferred<void>();
      listener.wake = () => woken.resolve();
      const { wake } = listener;
      const cancel = this.#options.clock.after(this.#options.holdMs, wake, true);
      const ends = [signal, link.gone];
      for (const end of ends) end.addEventListener("abort", wake);
      if (ends.some(({ aborted }) => aborted)) wake();
      await woken.promise;
      cancel();
      for (const end of ends) end.removeEventListener("abort", wake);
    }
    // If no request takes the answer, the commands stay where they are.
    const commands = signal.aborted || link.gone.aborted ? [] : listener.commands.splice(0);
    return { answer: { commands: commands as unknown as JsonValue } };
  }

  /** Sessions of an agent that take commands. */
  sessionsOf(agent: string): string[] {
    const found = [...this.#listeners.keys()].flatMap(({ sessions }) => [...sessions.values()]);
    return [...new Set(found.filter((each) => each.agent === agent).map(({ session }) => session))];
  }

  /** Rejects with `ProtocolError` `AgentRefused`. */
  async tell(
    { agent, session, action, text }: HubMethodParams<"agents.control">,
    isHere: (key: string) => boolean,
  ): Promise<void> {
    const { clock, createId, answerWithinMs } = this.#options;
    const key = joinKey(agent, session);
    const [link, listener] = [...this.#listeners].find(([{ sessions }]) => sessions.has(key)) ?? [];
    if (link === undefined || listener === undefined)
      throw agentRefused(isHere(key) ? "agent_not_controllable" : "agent_not_connected");
    if (listener.commands.length >= maxCommands) throw agentRefused("agent_did_not_answer");
    const id = createId("ctl");
    const done = createDeferred<void>();
    this.#sent.set(id, { link, done });
    listener.commands.push({ id, session, action, text });
    listener.wake();
    const cancel = clock.after(answerWithinMs, () => done.reject(agentRefused("agent_did_not_answer")), true);
    try {
      await done.promise;
    } finally {
      cancel();
      this.#sent.delete(id);
      // What it has not taken in time it does not do later.
      listener.commands = listener.commands.filter((command) => command.id !== id);
    }
  }

  /** A connection ended. */
  left(link: AgentLink): void {
    this.#listeners.get(link)?.wake();
    this.#listeners.delete(link);
    for (const sent of this.#sent.values())
      if (sent.link === link) sent.done.reject(agentRefused("agent_not_connected"));
  }

  #settle(link: AgentLink, { id, outcome, reason }: ControlOutcome): void {
    const sent = this.#sent.get(id);
    if (sent?.link !== link) return;
    if (outcome === "done") sent.done.resolve();
    else sent.done.reject(agentRefused("agent_refused", reason));
  }
}
