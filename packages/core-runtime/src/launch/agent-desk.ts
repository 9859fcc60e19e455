import type { AuditSink } from "@harnesskit/audit";
import { RuntimeErrorCode } from "@harnesskit/protocol/runtime";
import type { Clock } from "@harnesskit/wire";
import { type CallResult, failure } from "../call-result.ts";
import type { Core } from "../core.ts";
import { Watches, type WatchOptions } from "../watch.ts";
import { auditEntries } from "./audit-agents.ts";
import type { LaunchedAgent } from "./launched-agent.ts";

/** How often a core looks whether the calls of an agent that is to end are done. */
const idleCheckMs = 10;

/** What agents do to those who watch, to the audit, and to calls. */
export class AgentDesk {
  /** The core ends: no call is taken any more. */
  isClosing = false;
  readonly #core: Core;
  readonly #clock: Clock;
  readonly #audit: AuditSink | undefined;
  readonly #watches: Watches<LaunchedAgent>;
  /** Agents that were launched; no more than there may be. */
  readonly #launched = new Set<string>();
  /** Agents that end, their calls first. */
  readonly #stopping = new Set<string>();

  constructor(options: {
    readonly core: Core;
    readonly clock: Clock;
    readonly audit: AuditSink | undefined;
    readonly maxWatchers: number;
  }) {
    this.#core = options.core;
    this.#clock = options.clock;
    this.#audit = options.audit;
    this.#watches = new Watches(options.maxWatchers);
  }

  changed(agent: LaunchedAgent, before: LaunchedAgent): void {
    const { agentId } = agent;
    this.#launched.add(agentId);
    if (agent.state === "stopping") this.#stopping.add(agentId);
    else this.#stopping.delete(agentId);
    this.#watches.push(agentId, agent);
    if (this.#audit) for (const entry of auditEntries(agent, before)) this.#audit.record(entry);
  }

  watch(
    all: readonly LaunchedAgent[],
    options: WatchOptions | undefined,
  ): AsyncIterableIterator<LaunchedAgent> {
    const present = all.map((agent): [string, LaunchedAgent] => [agent.agentId, agent]);
    return this.#watches.open(present, options);
  }

  closeWatches(): void {
    this.#watches.close();
  }

  /** Why an agent gets no call: it, or the core, is about to end. */
  refusal(agentId: string): CallResult | undefined {
    if (this.isClosing) return failure(RuntimeErrorCode.CoreClosed, "the core takes no more calls");
    if (!this.#stopping.has(agentId)) return undefined;
    return failure(RuntimeErrorCode.AgentUnavailable, "the agent is being stopped", { retryable: true });
  }

  /** The agent was launched, and may come to serve. */
  expects(agentId: string): boolean {
    return this.#launched.has(agentId);
  }

  /** Settles when an agent, or all of them, have no call; at the latest after `timeoutMs`. */
  async whenIdle(agentId: string | undefined, timeoutMs = Number.POSITIVE_INFINITY): Promise<void> {
    const untilMs = this.#clock.now() + timeoutMs;
    while (this.#isBusy(agentId) && this.#clock.now() < untilMs) {
      await new Promise<void>((resolve) => {
        this.#clock.after(idleCheckMs, resolve);
      });
    }
  }

  #isBusy(agentId: string | undefined): boolean {
    return this.#core
      .agents()
      .some((agent) => (agentId ?? agent.agentId) === agent.agentId && agent.inflight + agent.waiting > 0);
  }
}
