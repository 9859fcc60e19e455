import { defaultRestartPolicy, RuntimeErrorCode } from "@harnesskit/protocol/runtime";
import { randomId } from "@harnesskit/wire";
import { defined } from "@harnesskit/wire/json";
import type { LaunchObserver } from "../admissions.ts";
import type { AgentSessions } from "../agent-sessions.ts";
import type { AgentEnd } from "./agent-process.ts";
import { type AgentRun, endReason, errorLine, spawnReason, startRun } from "./agent-run.ts";
import type { CoreDirectory } from "./core-directory.ts";
import { type AgentExit, type AgentReason, AgentStartError } from "./errors.ts";
import type { LaunchedAgent } from "./launched-agent.ts";
import type { ReadManifest } from "./read-manifest.ts";
import { Supervision, type SupervisionAction, type SupervisionSettings } from "./supervision.ts";

/** Where agents are launched. */
export interface LaunchSite {
  readonly sessions: AgentSessions;
  readonly directory: CoreDirectory;
  /** Called after each change of an agent. */
  readonly changed: (agent: LaunchedAgent) => void;
}

type Session = Pick<LaunchedAgent, "sessionId" | "agentVersion" | "status">;

const noSession: Session = { status: "disconnected" };

/** One agent of a core: performs what its supervision decides, and tells it what happened. */
export class AgentSupervisor {
  readonly agentId: string;
  readonly #site: LaunchSite;
  readonly #supervision: Supervision;
  #read: ReadManifest;
  #run: AgentRun | undefined;
  #launchId: string | undefined;
  #session = noSession;
  #toolIds: readonly string[] = [];
  /** Of the last attempt, once it has ended. */
  #end: AgentEnd | undefined;
  #lastExit: AgentExit | undefined;
  #health: LaunchedAgent;
  readonly #waiting = new Set<() => void>();

  constructor(site: LaunchSite, read: ReadManifest) {
    this.agentId = read.manifest.id;
    this.#site = site;
    this.#read = read;
    const { clock } = site.sessions.context;
    this.#supervision = new Supervision(this.#settingsOf(read), clock, (action) => this.#perform(action));
    this.#health = this.#describe();
  }

  get health(): LaunchedAgent {
    return this.#health;
  }

  get directory(): string {
    return this.#read.directory;
  }

  /** Starts it by this manifest, after ending what runs. */
  restart(read: ReadManifest): void {
    this.#read = read;
    this.#supervision.settings = this.#settingsOf(read);
    this.#supervision.restart();
  }

  /** Ends it, after its calls or at once; settles when nothing of it is left. */
  async stop({ atOnce = false }: { readonly atOnce?: boolean } = {}): Promise<void> {
    this.#supervision.stop(atOnce);
    await this.#until(() => this.#supervision.phase !== "stopping");
  }

  /**
   * Settles when it serves; rejects with an {@link AgentStartError} when the attempt that runs, or else the next one,
   * fails, or when none will come.
   */
  async ready(): Promise<void> {
    const supervision = this.#supervision;
    let attempted = false;
    await this.#until(() => {
      const { phase } = supervision;
      const waits = phase === "starting" || phase === "stopping" || phase === "unhealthy";
      attempted ||= waits;
      return !waits && (phase !== "backoff" || attempted);
    });
    if (supervision.phase === "ready") return;
    const reason: AgentReason = supervision.reason ?? { code: "stopped", message: "it was stopped" };
    const { exit, stderrTail } = (reason.code !== "stopped" && this.#end) || {};
    throw new AgentStartError(this.agentId, reason, exit, stderrTail);
  }

  async #until(isDone: () => boolean): Promise<void> {
    while (!isDone()) await new Promise<void>((resolve) => this.#waiting.add(resolve));
  }

  /** What the core's owner says holds before what the manifest says. */
  #settingsOf({ manifest }: ReadManifest): SupervisionSettings {
    const { times, options } = this.#site.sessions.context;
    const startTimeoutMs = manifest.start_timeout_ms ?? times.startTimeoutMs;
    const given = { ...defined(manifest.restart ?? {}), ...defined(options.restart ?? {}) };
    return { ...times, startTimeoutMs, restart: { ...defaultRestartPolicy, ...given } };
  }

  #perform(action: SupervisionAction | undefined): void {
    const run = this.#run;
    if (action === "spawn") this.#end = undefined;
    this.#update();
    if (action === "spawn") void this.#spawn();
    else if (action === "drain") {
      const drained = this.#site.sessions.session(this.agentId)?.drain() ?? Promise.resolve();
      void drained.then(() => this.#supervision.drained());
    } else if (action === "kill") {
      const message = this.#supervision.reason?.message ?? "the agent is killed";
      run?.admission.revoke({ code: RuntimeErrorCode.AgentLost, message });
      run?.process.kill();
    } else if (action) {
      run?.admission.revoke(
        this.#site.sessions.isClosing
          ? { code: RuntimeErrorCode.CoreClosed, message: "the core is closing" }
          : { code: "agent.stopped", message: "the agent is being stopped" },
      );
      if (action === "terminate") run?.process.terminate();
    }
  }

  async #spawn(): Promise<void> {
    const launchId = randomId("lch");
    this.#launchId = launchId;
    try {
      this.#follow(await startRun(this.#site, this.#read, launchId, this.#observe(launchId)));
    } catch (cause) {
      this.#launchId = undefined;
      this.#supervision.gone(undefined, spawnReason(cause), false);
    }
  }

  #follow(run: AgentRun): void {
    this.#run = run;
    // It was asked to end before there was a process.
    if (this.#supervision.phase !== "starting") run.process.kill();
    void run.process.exited.then((exit) => {
      this.#supervision.exited(exit);
      run.admission.revoke({ code: RuntimeErrorCode.AgentLost, message: "the agent's process has ended" });
    });
    void run.gone.then((end) => {
      this.#run = undefined;
      this.#launchId = undefined;
      this.#endSession();
      this.#end = end;
      this.#lastExit = end.exit;
      this.#supervision.gone(end.exit, endReason(end), end.notExecuted === undefined);
    });
    this.#update();
  }

  #endSession(): void {
    this.#session = noSession;
    this.#toolIds = [];
  }

  /** Events of a launch that is no longer the current one are ignored. */
  #observe(launchId: string): LaunchObserver {
    const supervision = this.#supervision;
    const isCurrent = () => this.#launchId === launchId;
    return {
      connected: (session) => {
        if (!isCurrent()) return;
        this.#session = { ...session, status: "ok" };
        supervision.connected();
      },
      registered: (toolIds) => {
        if (!isCurrent()) return;
        this.#toolIds = [...toolIds];
        supervision.registered();
      },
      health: (status, message) => {
        if (!isCurrent()) return;
        this.#session = { ...this.#session, status };
        supervision.health(status, message);
      },
      disconnected: ({ message }) => {
        if (!isCurrent()) return;
        this.#endSession();
        supervision.disconnected(message);
      },
    };
  }

  #describe(): LaunchedAgent {
    const { phase, sinceMs, reason, restarts, deadlineMs } = this.#supervision;
    const { clock } = this.#site.sessions.context;
    const toEpochMs = (elapsedMs: number) => clock.now() - clock.elapsedMs() + elapsedMs;
    const hasFailed = reason !== undefined && reason.code !== "stopped";
    return {
      agentId: this.agentId,
      directory: this.#read.directory,
      state: phase,
      sinceMs: toEpochMs(sinceMs),
      restarts,
      toolIds: this.#toolIds,
      manifestHash: this.#read.hash,
      ...this.#session,
      reason: reason?.message,
      reasonCode: reason?.code,
      nextStartMs: phase === "backoff" && deadlineMs !== undefined ? toEpochMs(deadlineMs) : undefined,
      lastExit: this.#lastExit,
      errorLine: hasFailed ? errorLine(this.#end) : undefined,
      pid: this.#run?.process.pid,
      launchId: this.#run?.launchId,
    };
  }

  #update(): void {
    const before = this.#health;
    this.#health = this.#describe();
    if (this.#health.state !== before.state) this.#record(this.#health);
    this.#site.changed(this.#health);
    for (const wake of this.#waiting) wake();
    this.#waiting.clear();
  }

  #record({ state, reasonCode, lastExit, ...agent }: LaunchedAgent): void {
    this.#site.sessions.context.audit?.record({
      action: `agent.${state}`,
      outcome: state === "crash_loop" ? "limited" : reasonCode === undefined ? "ok" : "failed",
      agent_id: agent.agentId,
      session_id: agent.sessionId,
      details: {
        reason: reasonCode,
        restarts: agent.restarts,
        launch_id: agent.launchId,
        manifest_hash: agent.manifestHash,
        wait_ms: state === "backoff" ? (agent.nextStartMs ?? 0) - agent.sinceMs : undefined,
        exit_code: lastExit?.code,
        exit_signal: lastExit?.signal,
      },
    });
  }
}
