import { RuntimeErrorCode } from "@harnesskit/protocol/runtime";
import { randomId } from "@harnesskit/wire";
import type { LaunchObserver } from "../launch-port.ts";
import type { AgentEnd } from "./agent-process.ts";
import { endReason, spawnReason } from "./agent-reasons.ts";
import { type AgentRun, type RunHost, startRun } from "./agent-run.ts";
import { type AgentExit, type AgentReason, AgentStartError, SpawnError } from "./errors.ts";
import type { LaunchedAgent } from "./launched-agent.ts";
import { type ManifestDrift, manifestDrift, type ReadManifest } from "./read-manifest.ts";
import { supervise } from "./supervise.ts";
import {
  initialSupervision,
  type Supervision,
  type SupervisionAction,
  type SupervisionEvent,
  type SupervisionSettings,
} from "./supervision.ts";

/** What a supervisor needs from the core around it. */
export interface SupervisorHost extends RunHost {
  readonly random: () => number;
  readonly maxManifestBytes: number | undefined;
  /** Whether an agent whose manifest file changed is not started by the policy. */
  readonly refuseManifestDrift: boolean;
  settingsOf(read: ReadManifest): SupervisionSettings;
  /** Settles when the agent has no call. Never rejects. */
  whenIdle(agentId: string): Promise<void>;
  /** The core is closing, and so its agents end. */
  readonly isClosing: boolean;
  /** Called after each change. */
  changed(health: LaunchedAgent, before: LaunchedAgent): void;
}

type Session = Pick<LaunchedAgent, "sessionId" | "agentVersion" | "status">;

const noSession: Session = { status: "disconnected" };

/** Runs one agent as {@link supervise} says: does what it wants done, and tells it what happens. */
export class AgentSupervisor {
  readonly agentId: string;
  readonly #host: SupervisorHost;
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
  #drift: ManifestDrift | undefined;
  /** Its session is ended with the word to come back after this time. */
  #retryAfterMs: number | undefined;
  #cancelTimer: (() => void) | undefined;
  #health: LaunchedAgent;
  readonly #waiting = new Set<() => void>();

  constructor(host: SupervisorHost, read: ReadManifest) {
    this.agentId = read.manifest.id;
    this.#host = host;
    this.#read = read;
    this.#settings = host.settingsOf(read);
    this.#state = initialSupervision(host.clock.now());
    this.#health = this.#describe();
  }

  get health(): LaunchedAgent {
    return this.#health;
  }

  get directory(): string {
    return this.#read.directory;
  }

  /** Does something that ends the session of an agent that is to come back then. */
  expectBack<T>(retryAfterMs: number, act: () => T): T {
    this.#retryAfterMs = retryAfterMs;
    try {
      return act();
    } finally {
      this.#retryAfterMs = undefined;
    }
  }

  /** Starts it by this manifest, after ending what runs. */
  restart(read: ReadManifest): void {
    this.#read = read;
    this.#settings = this.#host.settingsOf(read);
    this.#drift = undefined;
    this.#tell({ type: "restart" });
  }

  /** Ends it, its calls first or at once: settles when nothing of it is left. */
  async stop({ atOnce = false }: { readonly atOnce?: boolean } = {}): Promise<void> {
    this.#tell({ type: "stop", atOnce });
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
    if (this.#state.phase !== "ready") throw this.#startError();
  }

  #startError(): AgentStartError {
    const reason: AgentReason = this.#state.reason ?? { code: "stopped", message: "it was stopped" };
    const end = reason.code === "stopped" ? undefined : this.#end;
    return new AgentStartError({
      agentId: this.agentId,
      reason,
      exit: end?.exit,
      stderrTail: end?.stderrTail,
    });
  }

  async #until(isDone: () => boolean): Promise<void> {
    while (!isDone()) {
      await new Promise<void>((resolve) => {
        this.#waiting.add(resolve);
      });
    }
  }

  #tell(event: SupervisionEvent): void {
    const { clock, random } = this.#host;
    const context = { nowMs: clock.now(), random: random(), settings: this.#settings };
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
    const { clock } = this.#host;
    this.#cancelTimer = clock.after(Math.max(0, deadlineMs - clock.now()), () => {
      // A timer that is due early, because its wait was too long for the system, is set again.
      if (clock.now() < deadlineMs) this.#arm();
      else this.#tell({ type: "deadline" });
    });
  }

  #act(action: SupervisionAction): void {
    switch (action) {
      case "spawn":
        void this.#spawn();
        return;
      case "drain":
        void this.#host.whenIdle(this.agentId).then(() => this.#tell({ type: "drained" }));
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
      this.#host.isClosing
        ? { code: RuntimeErrorCode.CoreClosed, message: "the core is closing" }
        : { code: "agent.stopped", message: "the agent is being stopped" },
    );
  }

  async #spawn(): Promise<void> {
    const launchId = randomId("lch");
    this.#launchId = launchId;
    try {
      if (!this.#state.byHand) await this.#lookForDrift();
      const run = await startRun(this.#host, this.#read, launchId, this.#observe(launchId));
      this.#run = run;
      this.#follow(run);
    } catch (cause) {
      this.#launchId = undefined;
      this.#tell({ type: "start_failed", reason: spawnReason(cause) });
    }
  }

  /**
   * The policy starts what somebody launched, whatever the file says now; that it says something else is told, and if
   * the core refuses that, the agent rests.
   */
  async #lookForDrift(): Promise<void> {
    const { maxManifestBytes, refuseManifestDrift } = this.#host;
    this.#drift = await manifestDrift(this.#read, { maxManifestBytes });
    if (this.#drift !== undefined && refuseManifestDrift)
      throw new SpawnError(
        "manifest_drift",
        "its manifest is not the one that it was launched with: restart it",
      );
  }

  #follow(run: AgentRun): void {
    // It was asked to end before there was a process.
    if (this.#state.phase !== "starting") run.process.kill();
    void run.process.exited.then((exit) => {
      this.#tell({ type: "exited", exit });
      run.admission.revoke({ code: RuntimeErrorCode.AgentLost, message: "the agent's process has ended" });
    });
    void run.gone.then((end) => {
      this.#run = undefined;
      this.#launchId = undefined;
      this.#session = noSession;
      this.#toolIds = [];
      this.#end = end;
      this.#lastExit = end.exit;
      const reason = endReason(end);
      this.#tell({ type: "gone", exit: end.exit, ...(reason && { reason }) });
    });
    this.#update();
  }

  /** What is told of another launch than the one that runs comes too late to mean anything. */
  #observe(launchId: string): LaunchObserver {
    const ifCurrent = (act: () => void) => {
      if (this.#launchId === launchId) act();
    };
    return {
      connected: ({ sessionId, agentVersion }) =>
        ifCurrent(() => {
          this.#session = { sessionId, agentVersion, status: "ok" };
          this.#tell({ type: "connected" });
        }),
      registered: (toolIds) =>
        ifCurrent(() => {
          this.#toolIds = [...toolIds];
          this.#tell({ type: "registered" });
        }),
      health: (status, message) =>
        ifCurrent(() => {
          this.#session = { ...this.#session, status };
          this.#tell({ type: "health", status, ...(message !== undefined && { message }) });
        }),
      disconnected: ({ message }) =>
        ifCurrent(() => {
          this.#session = noSession;
          this.#toolIds = [];
          const retryAfterMs = this.#retryAfterMs;
          this.#tell({ type: "disconnected", message, ...(retryAfterMs !== undefined && { retryAfterMs }) });
        }),
    };
  }

  #describe(): LaunchedAgent {
    const { phase, sinceMs, reason, restarts, deadlineMs } = this.#state;
    const running = this.#run;
    return {
      agentId: this.agentId,
      directory: this.#read.directory,
      state: phase,
      sinceMs,
      restarts,
      toolIds: this.#toolIds,
      manifestHash: this.#read.hash,
      ...this.#session,
      ...(reason && { reason: reason.message, reasonCode: reason.code }),
      ...(phase === "backoff" && deadlineMs !== undefined && { nextStartMs: deadlineMs }),
      ...(this.#lastExit && { lastExit: this.#lastExit }),
      ...(running && { pid: running.process.pid, launchId: running.launchId }),
      ...(this.#drift && { manifestDrift: this.#drift }),
    };
  }

  #update(): void {
    const before = this.#health;
    this.#health = this.#describe();
    this.#host.changed(this.#health, before);
    for (const wake of this.#waiting) wake();
    this.#waiting.clear();
  }
}
