import type { RestartPolicy } from "@harnesskit/protocol/runtime";
import { backoffDelayMs, type Clock, startDeadline } from "@harnesskit/wire/time";
import type { CoreTimes } from "../core-limits.ts";
import type { AgentExit, AgentReason } from "./errors.ts";

/** The times of an agent, and how it is started again. */
export interface SupervisionSettings
  extends Pick<CoreTimes, "startTimeoutMs" | "reconnectTimeoutMs" | "unhealthyTimeoutMs">,
    Pick<CoreTimes, "drainTimeoutMs" | "goodbyeGraceMs" | "stopGraceMs"> {
  readonly restart: { readonly [Field in keyof RestartPolicy]-?: NonNullable<RestartPolicy[Field]> };
}

/**
 * `stopped`: it was stopped, or its policy does not restart it. `starting`: from the start of the process to the first
 * registration of tools. `ready`: it serves. `unhealthy`: it runs, but it lost its session or missed heartbeats, or it
 * reports so itself. `stopping`: from the request to end it until nothing of it is left. `backoff`: it waits for its
 * next start. `crash_loop`: it was started too often and given up; a start by hand leaves this state.
 */
export type AgentPhase =
  | "stopped"
  | "starting"
  | "ready"
  | "unhealthy"
  | "stopping"
  | "backoff"
  | "crash_loop";

/**
 * `drain`: call `drained` when the last call is done. `goodbye`: end the session. `terminate`: end it if it is still there, and
 * send SIGTERM. `kill`: the same with SIGKILL.
 */
export type SupervisionAction = "spawn" | "drain" | "goodbye" | "terminate" | "kill";

const exitReason = (exit: AgentExit | undefined): AgentReason => ({
  code: "exited",
  message: exit?.signal
    ? `its process was ended by ${exit.signal}`
    : `its process ended with code ${exit?.code}`,
});

/** When one agent is started, ended and started again. Each method is an event, and any may come in any phase. */
export class Supervision {
  phase: AgentPhase = "stopped";
  /** Since when, by `elapsedMs` of the clock. */
  sinceMs: number;
  /** When it goes on by itself. */
  deadlineMs: number | undefined;
  /** What led here, unless it was asked for. */
  reason: AgentReason | undefined;
  /** Starts by the policy since the last one by hand. */
  restarts = 0;
  settings: SupervisionSettings;
  readonly #clock: Clock;
  readonly #perform: (action?: SupervisionAction) => void;
  readonly #random: (() => number) | undefined;
  #cancelDeadline: (() => void) | undefined;
  /** It has a session; in the phases in which it has a process. */
  #isConnected = false;
  /** Tools were registered in this run. */
  #isRegistered = false;
  /** When this run was ready first. */
  #readyAtMs: number | undefined;
  /** The running attempt was asked for by the caller, not by the policy. */
  #isByHand = false;
  /** How far the ending of the process is. */
  #ending: "draining" | "leaving" | "terminating" | "killing" | undefined;
  /** What follows the ending. */
  #next: "rest" | "start" | "policy" = "policy";
  /** The run counts as a failure for the policy, however the process ended. */
  #hasFailed = false;
  /** Restarts in a row without a stable run. */
  #failures = 0;
  /** When the policy's last restarts were decided; no more than `max_burst`. */
  #restartsMs: readonly number[] = [];

  /** @param perform called after each event, with what it asks for */
  constructor(
    settings: SupervisionSettings,
    clock: Clock,
    perform: (action?: SupervisionAction) => void,
    random?: () => number,
  ) {
    this.settings = settings;
    this.#clock = clock;
    this.#perform = perform;
    this.#random = random;
    this.sinceMs = clock.elapsedMs();
  }

  /** It is to run, after what runs has ended. Also leaves a `crash_loop`. */
  restart(): void {
    if (this.phase === "stopping") this.#next = "start";
    else this.#perform(this.#hasProcess ? this.#drain("start") : this.#begin(true));
  }

  /** It is to end: when its calls are done, or at once. */
  stop(atOnce = false): void {
    const isEnding = this.phase === "stopping";
    if (!this.#hasProcess) {
      if (this.phase !== "stopped") this.#rest("stopped");
      this.#perform();
    } else if (atOnce && (!isEnding || this.#ending === "draining")) {
      this.#enter("stopping");
      this.#next = "rest";
      this.#perform(this.#leave());
    } else if (isEnding) this.#next = "rest";
    else this.#perform(this.#drain("rest"));
  }

  connected(): void {
    if (this.#isWanted && this.phase !== "ready") {
      this.#isConnected = true;
      if (this.phase === "starting") this.reason = undefined;
      this.#expireAfter(this.settings.startTimeoutMs);
    }
    this.#perform();
  }

  registered(): void {
    // More tools do not change the health of an agent that is unhealthy.
    if (this.#isWanted && !this.#isRegistered) this.#becomeReady();
    this.#perform();
  }

  health(status: "ok" | "degraded" | "unhealthy", message = "it reports that it is unhealthy"): void {
    const isServing = this.#isWanted && this.#isRegistered;
    if (isServing && status !== "unhealthy" && this.phase !== "ready") this.#becomeReady();
    if (isServing && status === "unhealthy" && this.phase !== "unhealthy") {
      this.#enter("unhealthy", { code: "unhealthy", message }, this.settings.unhealthyTimeoutMs);
    }
    this.#perform();
  }

  disconnected(message: string): void {
    if (this.#isWanted) {
      this.#isConnected = false;
      this.#isRegistered = false;
      const reason = { code: "disconnected" as const, message: `its session ended: ${message}` };
      const phase = this.phase === "starting" ? "starting" : "unhealthy";
      this.#enter(phase, reason, this.settings.reconnectTimeoutMs);
    }
    this.#perform();
  }

  /** Its calls are done. */
  drained(): void {
    if (this.#ending === "draining") this.#perform(this.#leave());
  }

  /** The agent's own process has ended. */
  exited(exit: AgentExit): void {
    if (!this.#hasProcess || this.#ending === "killing") return;
    this.#enter("stopping", this.phase === "stopping" ? this.reason : exitReason(exit));
    this.#ending = "killing";
    this.#isConnected = false;
    this.#perform();
  }

  /**
   * Nothing of the run is left, or no process could be made. `better` says more than the exit; `hasRun` is false where its
   * program did not run.
   */
  gone(exit: AgentExit | undefined, better: AgentReason | undefined, hasRun: boolean): void {
    if (!this.#hasProcess) return;
    const reason = better ?? (this.#hasFailed ? this.reason : undefined) ?? exitReason(exit);
    const hasFailed = this.#hasFailed || better !== undefined || exit?.code !== 0;
    if (this.#next === "start") this.#perform(this.#begin(true));
    else {
      if (this.#next === "rest") this.#rest("stopped");
      else if (!hasRun && this.#isByHand) this.#rest("stopped", reason);
      else this.#followPolicy(reason, hasFailed);
      this.#perform();
    }
  }

  /** Whether the agent is to run, so that its session counts. */
  get #isWanted(): boolean {
    return this.phase === "starting" || this.phase === "ready" || this.phase === "unhealthy";
  }

  get #hasProcess(): boolean {
    return this.#isWanted || this.phase === "stopping";
  }

  #enter(phase: AgentPhase, reason?: AgentReason, expiresAfterMs?: number): void {
    if (phase !== this.phase) this.sinceMs = this.#clock.elapsedMs();
    this.phase = phase;
    this.reason = reason;
    this.#expireAfter(expiresAfterMs);
  }

  #expireAfter(delayMs = Number.POSITIVE_INFINITY): void {
    const clock = this.#clock;
    this.#cancelDeadline?.();
    this.#cancelDeadline = startDeadline(delayMs, () => this.#perform(this.#expired()), { clock });
    this.deadlineMs = delayMs === Number.POSITIVE_INFINITY ? undefined : clock.elapsedMs() + delayMs;
  }

  #expired(): SupervisionAction | undefined {
    const within = `within ${this.settings.startTimeoutMs} ms`;
    switch (this.phase) {
      case "starting":
        return this.#killFailed(
          this.#isConnected
            ? { code: "register_timeout", message: `it did not register tools ${within}` }
            : { code: "connect_timeout", message: `it did not connect ${within}` },
        );
      case "unhealthy":
        return this.#killFailed({ code: "unhealthy", message: "it is unhealthy" });
      case "backoff":
        return this.#begin(false);
      default:
        if (this.#ending === "draining") return this.#leave();
        return this.#ending === "leaving" ? this.#terminate() : this.#kill();
    }
  }

  #begin(isByHand: boolean): SupervisionAction {
    this.#rest("starting", undefined, this.settings.startTimeoutMs);
    this.#readyAtMs = undefined;
    this.#next = "policy";
    this.#hasFailed = false;
    this.#isByHand = isByHand;
    this.restarts = isByHand ? 0 : this.restarts + 1;
    if (isByHand) this.#failures = 0;
    if (isByHand) this.#restartsMs = [];
    return "spawn";
  }

  #becomeReady(): void {
    this.#enter("ready");
    this.#isConnected = true;
    this.#isRegistered = true;
    this.#readyAtMs ??= this.#clock.elapsedMs();
  }

  /** Ends the process, after its calls. */
  #drain(next: "rest" | "start"): SupervisionAction {
    this.#enter("stopping", undefined, this.settings.drainTimeoutMs);
    this.#ending = "draining";
    this.#next = next;
    return "drain";
  }

  /** Sends goodbye to a connected agent, and SIGTERM to the others. */
  #leave(): SupervisionAction {
    if (!this.#isConnected) return this.#terminate();
    this.#ending = "leaving";
    this.#expireAfter(this.settings.goodbyeGraceMs);
    return "goodbye";
  }

  #terminate(): SupervisionAction {
    this.#ending = "terminating";
    this.#expireAfter(this.settings.stopGraceMs);
    return "terminate";
  }

  #kill(): SupervisionAction {
    this.#ending = "killing";
    this.#expireAfter();
    return "kill";
  }

  /** Ends the process by force, because it failed. */
  #killFailed(otherwise: AgentReason): SupervisionAction {
    this.#enter("stopping", this.reason ?? otherwise);
    this.#hasFailed = true;
    return this.#kill();
  }

  #followPolicy(reason: AgentReason, hasFailed: boolean): void {
    const { restart } = this.settings;
    const nowMs = this.#clock.elapsedMs();
    const recent = this.#restartsMs.filter((at) => nowMs - at < restart.burst_window_ms);
    if (restart.policy === "never" || (restart.policy === "on-failure" && !hasFailed)) {
      this.#rest("stopped", reason);
    } else if (recent.length >= restart.max_burst) {
      const restarts = `${recent.length} restarts within ${restart.burst_window_ms} ms`;
      const message = `it was given up after ${restarts}: ${reason.message}`;
      this.#rest("crash_loop", { code: "crash_loop", message });
    } else {
      const isStable = this.#readyAtMs !== undefined && nowMs - this.#readyAtMs >= restart.stable_after_ms;
      this.#failures = isStable ? 1 : this.#failures + 1;
      this.#restartsMs = [...recent, nowMs];
      // Of the longest wait a random part, so that agents that fell together do not rise together.
      const { initial_backoff_ms: initialDelayMs, max_backoff_ms: maxDelayMs } = restart;
      const backoff = { initialDelayMs, maxDelayMs, random: this.#random };
      this.#rest("backoff", reason, Math.round(backoffDelayMs(this.#failures, backoff)));
    }
  }

  /** Into a phase in which there is no process. */
  #rest(phase: AgentPhase, reason?: AgentReason, expiresAfterMs?: number): void {
    this.#enter(phase, reason, expiresAfterMs);
    this.#isConnected = false;
    this.#isRegistered = false;
    this.#ending = undefined;
  }
}
