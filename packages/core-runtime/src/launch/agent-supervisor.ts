import { RuntimeErrorCode } from "@harnesskit/protocol/runtime";
import { randomId } from "@harnesskit/wire";
import { startDeadline } from "@harnesskit/wire/time";
import type { LaunchObserver } from "../admissions.ts";
import type { AgentEnd } from "./agent-process.ts";
import { type AgentRun, endReason, errorLine, spawnReason, startRun } from "./agent-run.ts";
import { type AgentExit, type AgentReason, AgentStartError } from "./errors.ts";
import type { LaunchContext, LaunchedAgent } from "./launched-agent.ts";
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

/** Runs one agent by {@link supervise}: performs its actions, and reports events to it. */
export class AgentSupervisor {
  readonly agentId: string;
  readonly #context: LaunchContext;
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

  constructor(context: LaunchContext, read: ReadManifest) {
    this.agentId = read.manifest.id;
    this.#context = context;
    this.#read = read;
    this.#settings = this.#settingsOf(read);
    this.#state = initialSupervision(context.core.context.clock.elapsedMs());
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
    throw new AgentStartError({ agentId: this.agentId, reason, exit, stderrTail });
  }

  async #until(isDone: () => boolean): Promise<void> {
    while (!isDone()) {
      await new Promise<void>((resolve) => {
        this.#waiting.add(resolve);
      });
    }
  }

  #settingsOf({ manifest }: ReadManifest): SupervisionSettings {
    const { times, options } = this.#context;
    const startMs = manifest.start_timeout_ms;
    return {
      ...times,
      ...(startMs !== undefined && { connectTimeoutMs: startMs, registerTimeoutMs: startMs }),
      restart: restartSettings(options.restart, manifest.restart),
    };
  }

  #report(event: SupervisionEvent): void {
    const { core } = this.#context;
    const { clock } = core.context;
    const sawOtherFraming = core.unframedMs >= this.#state.sinceMs;
    const context = {
      nowMs: clock.elapsedMs(),
      random: Math.random(),
      settings: this.#settings,
      sawOtherFraming,
    };
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
    const { clock } = this.#context.core.context;
    const waitMs = Math.max(0, deadlineMs - clock.elapsedMs());
    this.#cancelTimer = startDeadline(waitMs, () => this.#report({ type: "deadline" }), { clock });
  }

  #act(action: SupervisionAction): void {
    switch (action) {
      case "spawn":
        void this.#spawn();
        return;
      case "drain":
        void this.#context.core.whenIdle(this.agentId).then(() => this.#report({ type: "drained" }));
        return;
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
      this.#context.core.isClosing
        ? { code: RuntimeErrorCode.CoreClosed, message: "the core is closing" }
        : { code: "agent.stopped", message: "the agent is being stopped" },
    );
  }

  async #spawn(): Promise<void> {
    const launchId = randomId("lch");
    this.#launchId = launchId;
    try {
      const run = await startRun(this.#context, this.#read, launchId, this.#observe(launchId));
      this.#run = run;
      this.#follow(run);
    } catch (cause) {
      this.#launchId = undefined;
      this.#report({ type: "start_failed", reason: spawnReason(cause) });
    }
  }

  #follow(run: AgentRun): void {
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
    const ifCurrent = (act: () => void) => {
      if (this.#launchId === launchId) act();
    };
    return {
      connected: ({ sessionId, agentVersion }) =>
        ifCurrent(() => {
          this.#session = { sessionId, agentVersion, status: "ok" };
          this.#report({ type: "connected" });
        }),
      registered: (toolIds) =>
        ifCurrent(() => {
          this.#toolIds = [...toolIds];
          this.#report({ type: "registered" });
        }),
      health: (status, message) =>
        ifCurrent(() => {
          this.#session = { ...this.#session, status };
          this.#report({ type: "health", status, message });
        }),
      disconnected: ({ message }) =>
        ifCurrent(() => {
          this.#endSession();
          this.#report({ type: "disconnected", message });
        }),
    };
  }

  #describe(): LaunchedAgent {
    const { phase, sinceMs, reason, restarts, deadlineMs } = this.#state;
    const running = this.#run;
    const { clock } = this.#context.core.context;
    const toEpochMs = (elapsedMs: number) => clock.now() - clock.elapsedMs() + elapsedMs;
    const line = reason === undefined || reason.code === "stopped" ? undefined : errorLine(this.#end);
    return {
      agentId: this.agentId,
      directory: this.#read.directory,
      state: phase,
      sinceMs: toEpochMs(sinceMs),
      restarts,
      toolIds: this.#toolIds,
      manifestHash: this.#read.hash,
      ...this.#session,
      reason: reason ? reason.message : undefined,
      reasonCode: reason ? reason.code : undefined,
      nextStartMs: phase === "backoff" && deadlineMs !== undefined ? toEpochMs(deadlineMs) : undefined,
      lastExit: this.#lastExit,
      errorLine: line,
      pid: running ? running.process.pid : undefined,
      launchId: running ? running.launchId : undefined,
    };
  }

  #update(): void {
    const before = this.#health;
    this.#health = this.#describe();
    this.#context.core.changed(this.#health, before);
    for (const wake of this.#waiting) wake();
    this.#waiting.clear();
  }
}
