import { RuntimeErrorCode } from "@harnesskit/protocol/runtime";
import { randomId } from "@harnesskit/wire";
import { startDeadline } from "@harnesskit/wire/time";
import type { LaunchObserver } from "../admissions.ts";
import type { StartedCore } from "../start-core.ts";
import type { AgentEnd } from "./agent-process.ts";
import { type AgentRun, endReason, errorLine, spawnReason, startRun } from "./agent-run.ts";
import { type AgentExit, type AgentReason, AgentStartError } from "./errors.ts";
import type { LaunchedAgent } from "./launched-agent.ts";
import type { ReadManifest } from "./read-manifest.ts";
import { supervise } from "./supervise.ts";
import {
  initialSupervision,
  restartSettings,
  type Supervision,
  type SupervisionAction,
  type SupervisionEvent,
  type SupervisionSettings,
} from "./supervision.ts";

type Session = Pick<LaunchedAgent, "sessionId" | "agentVersion" | "status">;

const noSession: Session = { status: "disconnected" };

/** One agent of a core: performs what its supervision decides, and tells it what happened. */
export class AgentSupervisor {
  readonly agentId: string;
  readonly #core: StartedCore;
  #read: ReadManifest;
  #settings: SupervisionSettings;
  #state: Supervision;
  #run: AgentRun | undefined;
  #launchId: string | undefined;
  #session = noSession;
  #toolIds: readonly string[] = [];
  /** Of the last attempt, once it has ended. */
  #end: AgentEnd | undefined;
  #lastExit: AgentExit | undefined;
  #cancelTimer: (() => void) | undefined;
  #health: LaunchedAgent;
  readonly #waiting = new Set<() => void>();

  constructor(core: StartedCore, read: ReadManifest) {
    this.agentId = read.manifest.id;
    this.#core = core;
    this.#read = read;
    this.#settings = this.#settingsOf(read);
    this.#state = initialSupervision(core.context.clock.elapsedMs());
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
    this.#settings = this.#settingsOf(read);
    this.#report({ type: "restart" });
  }

  /** Ends it, after its calls or at once; settles when nothing of it is left. */
  async stop({ atOnce = false }: { readonly atOnce?: boolean } = {}): Promise<void> {
    this.#report({ type: "stop", atOnce });
    await this.#until(() => this.#state.phase !== "stopping");
  }

  /**
   * Settles when it serves; rejects with an {@link AgentStartError} when the attempt that runs, or else the next one,
   * fails, or when none will come.
   */
  async ready(): Promise<void> {
    let attempted = false;
    await this.#until(() => {
      const { phase } = this.#state;
      const waits = phase === "starting" || phase === "stopping" || phase === "unhealthy";
      attempted ||= waits;
      return !waits && (phase !== "backoff" || attempted);
    });
    if (this.#state.phase === "ready") return;
    const reason: AgentReason = this.#state.reason ?? { code: "stopped", message: "it was stopped" };
    const { exit, stderrTail } = (reason.code !== "stopped" && this.#end) || {};
    throw new AgentStartError(this.agentId, reason, exit, stderrTail);
  }

  async #until(isDone: () => boolean): Promise<void> {
    while (!isDone()) await new Promise<void>((resolve) => this.#waiting.add(resolve));
  }

  #settingsOf({ manifest }: ReadManifest): SupervisionSettings {
    const { times, options } = this.#core.context;
    const startTimeoutMs = manifest.start_timeout_ms ?? times.startTimeoutMs;
    return { ...times, startTimeoutMs, restart: restartSettings(options.restart, manifest.restart) };
  }

  #report(event: SupervisionEvent): void {
    const nowMs = this.#core.context.clock.elapsedMs();
    const context = { nowMs, random: Math.random(), settings: this.#settings };
    const { state, action } = supervise(this.#state, event, context);
    if (state.phase === "starting" && this.#state.phase !== "starting") this.#end = undefined;
    this.#state = state;
    this.#arm();
    this.#update();
    if (action) this.#act(action);
  }

  #arm(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    const { deadlineMs } = this.#state;
    if (deadlineMs === undefined) return;
    const { clock } = this.#core.context;
    const waitMs = Math.max(0, deadlineMs - clock.elapsedMs());
    this.#cancelTimer = startDeadline(waitMs, () => this.#report({ type: "deadline" }), { clock });
  }

  #act(action: SupervisionAction): void {
    switch (action) {
      case "spawn":
        void this.#spawn();
        return;
      case "drain": {
        const drained = this.#core.session(this.agentId)?.drain() ?? Promise.resolve();
        void drained.then(() => this.#report({ type: "drained" }));
        return;
      }
      case "goodbye":
        this.#revoke();
        return;
      case "terminate":
        this.#revoke();
        this.#run?.process.terminate();
        return;
      case "kill":
        this.#run?.admission.revoke({
          code: RuntimeErrorCode.AgentLost,
          message: this.#state.reason?.message ?? "the agent is killed",
        });
        this.#run?.process.kill();
    }
  }

  #revoke(): void {
    this.#run?.admission.revoke(
      this.#core.isClosing
        ? { code: RuntimeErrorCode.CoreClosed, message: "the core is closing" }
        : { code: "agent.stopped", message: "the agent is being stopped" },
    );
  }

  async #spawn(): Promise<void> {
    const launchId = randomId("lch");
    this.#launchId = launchId;
    try {
      this.#follow(await startRun(this.#core, this.#read, launchId, this.#observe(launchId)));
    } catch (cause) {
      this.#launchId = undefined;
      this.#report({ type: "start_failed", reason: spawnReason(cause) });
    }
  }

  #follow(run: AgentRun): void {
    this.#run = run;
    // It was asked to end before there was a process.
    if (this.#state.phase !== "starting") run.process.kill();
    void run.process.exited.then((exit) => {
      this.#report({ type: "exited", exit });
      run.admission.revoke({ code: RuntimeErrorCode.AgentLost, message: "the agent's process has ended" });
    });
    void run.gone.then((end) => {
      this.#run = undefined;
      this.#launchId = undefined;
      this.#endSession();
      this.#end = end;
      this.#lastExit = end.exit;
      const reason = endReason(end);
      this.#report({ type: "gone", exit: end.exit, reason, hasRun: end.notExecuted === undefined });
    });
    this.#update();
  }

  #endSession(): void {
    this.#session = noSession;
    this.#toolIds = [];
  }

  /** Events of a launch that is no longer the current one are ignored. */
  #observe(launchId: string): LaunchObserver {
    const take = (event: SupervisionEvent, change: () => void) => {
      if (this.#launchId !== launchId) return;
      change();
      this.#report(event);
    };
    return {
      connected: (session) =>
        take({ type: "connected" }, () => {
          this.#session = { ...session, status: "ok" };
        }),
      registered: (toolIds) =>
        take({ type: "registered" }, () => {
          this.#toolIds = [...toolIds];
        }),
      health: (status, message) =>
        take({ type: "health", status, message }, () => {
          this.#session = { ...this.#session, status };
        }),
      disconnected: ({ message }) => take({ type: "disconnected", message }, () => this.#endSession()),
    };
  }

  #describe(): LaunchedAgent {
    const { phase, sinceMs, reason, restarts, deadlineMs } = this.#state;
    const { clock } = this.#core.context;
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
    this.#core.changed(this.#health, before);
    for (const wake of this.#waiting) wake();
    this.#waiting.clear();
  }
}
