import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../../../../scripts/lib/nightly.ts";
import { supervise } from "../../src/launch/supervise.ts";
import {
  initialSupervision,
  restartSettings,
  type Supervision,
  type SupervisionAction,
  type SupervisionEvent,
  type SupervisionSettings,
} from "../../src/launch/supervision.ts";

const exit = (code: number | null, signal: NodeJS.Signals | null = null) => ({ code, signal });
const failure = { code: "start_failed", message: "no" } as const;

const settingsWith = (restart: Partial<SupervisionSettings["restart"]> = {}): SupervisionSettings => ({
  restart: { ...restartSettings(undefined, undefined), ...restart },
  startTimeoutMs: 1000,
  reconnectTimeoutMs: 300,
  unhealthyTimeoutMs: 400,
  drainTimeoutMs: 600,
  goodbyeGraceMs: 100,
  stopGraceMs: 700,
});

/** A machine with its clock, and a process as a machine believes it. */
class Subject {
  state: Supervision = initialSupervision(0);
  nowMs = 0;
  actions: SupervisionAction[] = [];
  readonly settings: SupervisionSettings;

  constructor(restart: Partial<SupervisionSettings["restart"]> = {}) {
    this.settings = settingsWith(restart);
  }

  tell(...events: SupervisionEvent[]): this {
    for (const event of events) {
      const context = { nowMs: this.nowMs, random: 1, settings: this.settings };
      const { state, action } = supervise(this.state, event, context);
      this.state = state;
      if (action) this.actions.push(action);
    }
    return this;
  }

  after(ms: number): this {
    this.nowMs += ms;
    return this.tell({ type: "deadline" });
  }

  untilDeadline(): this {
    expect(this.state.deadlineMs).toBeDefined();
    return this.after((this.state.deadlineMs ?? 0) - this.nowMs);
  }

  serve(): this {
    return this.tell({ type: "connected" }, { type: "registered" });
  }

  die(code: number | null, signal: NodeJS.Signals | null = null): this {
    return this.tell(
      { type: "exited", exit: exit(code, signal) },
      { type: "gone", exit: exit(code, signal) },
    );
  }
}

describe("the supervision of an agent", () => {
  it("goes from a start to serving, and by a wish to rest: calls, goodbye, SIGTERM, SIGKILL", () => {
    const subject = new Subject().tell({ type: "restart" });
    expect(subject.state.phase).toBe("starting");
    subject.serve();
    expect(subject.state.phase).toBe("ready");
    expect(subject.state.deadlineMs).toBeUndefined();
    subject.tell({ type: "stop" });
    expect(subject.actions).toEqual(["spawn", "drain"]);
    subject.after(599);
    expect(subject.actions).toEqual(["spawn", "drain"]);
    subject.after(1);
    expect(subject.actions).toEqual(["spawn", "drain", "goodbye"]);
    subject.after(100);
    expect(subject.actions).toEqual(["spawn", "drain", "goodbye", "terminate"]);
    subject.after(700);
    expect(subject.actions).toEqual(["spawn", "drain", "goodbye", "terminate", "kill"]);
    subject.die(null, "SIGKILL");
    expect(subject.state).toMatchObject({ phase: "stopped", reason: undefined, restarts: 0 });
  });

  it("ends at once when asked to, and without a goodbye when it is not connected", () => {
    const ready = new Subject().tell({ type: "restart" }).serve().tell({ type: "stop", atOnce: true });
    expect(ready.actions).toEqual(["spawn", "goodbye"]);
    const patient = new Subject().tell({ type: "restart" }).serve().tell({ type: "restart" });
    patient.tell({ type: "stop", atOnce: true });
    expect(patient.actions).toEqual(["spawn", "drain", "goodbye"]);
    expect(patient.die(0).state.phase).toBe("stopped");
    const starting = new Subject().tell({ type: "restart" }).tell({ type: "stop", atOnce: true });
    expect(starting.actions).toEqual(["spawn", "terminate"]);
  });

  it("kills an agent that stays unhealthy, and not one that recovers", () => {
    const subject = new Subject().tell({ type: "restart" }).serve();
    subject.tell({ type: "health", status: "unhealthy", message: "3 heartbeats are missing" });
    expect(subject.state).toMatchObject({
      phase: "unhealthy",
      reason: { code: "unhealthy", message: "3 heartbeats are missing" },
    });
    subject.after(399).tell({ type: "health", status: "ok" });
    expect(subject.state).toMatchObject({ phase: "ready", deadlineMs: undefined });
    subject.tell({ type: "health", status: "unhealthy" }).after(400);
    expect(subject.actions).toEqual(["spawn", "kill"]);
    subject.die(null, "SIGKILL");
    expect(subject.state).toMatchObject({ phase: "backoff", reason: { code: "unhealthy" } });
  });

  it("gives an agent whose session ended time to exit or to come back", () => {
    const lost = new Subject().tell({ type: "restart" }).serve();
    lost.tell({ type: "disconnected", message: "it closed the connection" }).after(299);
    expect(lost.state).toMatchObject({ phase: "unhealthy", reason: { code: "disconnected" } });
    lost.tell({ type: "connected" }, { type: "registered" });
    expect(lost.state).toMatchObject({ phase: "ready", deadlineMs: undefined });
    lost.tell({ type: "disconnected", message: "again" }).after(300);
    expect(lost.actions).toEqual(["spawn", "kill"]);

    const left = new Subject().tell({ type: "restart" }).serve();
    left.tell({ type: "disconnected", message: "it closed the connection" }).die(0);
    expect(left.state).toMatchObject({
      phase: "stopped",
      reason: { code: "exited", message: "its process ended with code 0" },
    });
  });

  it("does not take more tools for better health", () => {
    const subject = new Subject().tell({ type: "restart" }).serve();
    subject.tell({ type: "health", status: "unhealthy" }, { type: "registered" });
    expect(subject.state.phase).toBe("unhealthy");
    expect(subject.after(400).actions).toEqual(["spawn", "kill"]);
  });

  it.each([
    { policy: "never", code: 1, phase: "stopped" },
    { policy: "on-failure", code: 1, phase: "backoff" },
    { policy: "on-failure", code: 0, phase: "stopped" },
    { policy: "always", code: 0, phase: "backoff" },
  ] as const)("after exit $code by the policy $policy: $phase", ({ policy, code, phase }) => {
    const subject = new Subject({ policy }).tell({ type: "restart" }).serve().die(code);
    expect(subject.state).toMatchObject({ phase, reason: { code: "exited" } });
  });

  it("doubles the wait, gives up after a burst, and starts again by hand", () => {
    const subject = new Subject().tell({ type: "restart" });
    const waits: number[] = [];
    for (let restart = 0; restart < 5; restart++) {
      subject.die(3);
      expect(subject.state.phase).toBe("backoff");
      waits.push((subject.state.deadlineMs ?? 0) - subject.nowMs);
      subject.untilDeadline();
      expect(subject.state).toMatchObject({ phase: "starting", restarts: restart + 1 });
    }
    expect(waits).toEqual([200, 400, 800, 1600, 3200]);
    subject.die(3);
    expect(subject.state).toMatchObject({ phase: "crash_loop", reason: { code: "crash_loop" } });
    expect(subject.state.reason?.message).toContain("its process ended with code 3");
    expect(subject.state.deadlineMs).toBeUndefined();
    subject.tell({ type: "restart" }).serve();
    expect(subject.state).toMatchObject({ phase: "ready", restarts: 0 });
    subject.die(3);
    expect((subject.state.deadlineMs ?? 0) - subject.nowMs).toBe(200);
  });

  it("starts with a small wait again after a stable run, and not after a shorter one", () => {
    const subject = new Subject({ max_burst: 100 }).tell({ type: "restart" }).serve().die(1).untilDeadline();
    subject.serve().after(29_999).die(1);
    expect((subject.state.deadlineMs ?? 0) - subject.nowMs).toBe(400);
    subject.untilDeadline().serve().after(30_000).die(1);
    expect((subject.state.deadlineMs ?? 0) - subject.nowMs).toBe(200);
  });
});

const events: fc.Arbitrary<SupervisionEvent> = fc.oneof(
  fc.constantFrom<SupervisionEvent>(
    { type: "restart" },
    { type: "stop" },
    { type: "stop", atOnce: true },
    { type: "connected" },
    { type: "registered" },
    { type: "disconnected", message: "gone" },
    { type: "drained" },
    { type: "health", status: "unhealthy" },
    { type: "health", status: "ok" },
  ),
  fc.constantFrom<SupervisionEvent>({ type: "deadline" }),
);

/** What the world does beside: time passes, and a process fails to start, ends or is slow to. */
const worldSteps = fc.oneof(
  { weight: 3, arbitrary: events.map((event) => ({ do: "tell" as const, event })) },
  { weight: 2, arbitrary: fc.integer({ min: 0, max: 5000 }).map((ms) => ({ do: "wait" as const, ms })) },
  {
    weight: 2,
    arbitrary: fc
      .constantFrom<ReturnType<typeof exit>>(exit(0), exit(1), exit(null, "SIGSEGV"))
      .map((end) => ({ do: "die" as const, end })),
  },
  { weight: 1, arbitrary: fc.constant({ do: "fail_to_start" as const }) },
);

const policies = fc.record({
  policy: fc.constantFrom("never" as const, "on-failure" as const, "always" as const),
  initial_backoff_ms: fc.integer({ min: 0, max: 1000 }),
  max_backoff_ms: fc.integer({ min: 1000, max: 5000 }),
  max_burst: fc.integer({ min: 1, max: 4 }),
  burst_window_ms: fc.integer({ min: 1, max: 10_000 }),
  stable_after_ms: fc.integer({ min: 1, max: 5000 }),
});

describe("the supervision of an agent, in any order of events", () => {
  it("has one process at the most, never hangs, never starts what should rest, and stays within the burst", () => {
    fc.assert(
      fc.property(policies, fc.array(worldSteps, { maxLength: 80, size: "max" }), (policy, steps) => {
        const subject = new Subject(policy);
        let alive = false;
        let killed = false;
        /** Nobody has asked it to rest since somebody asked it to run. */
        let wanted = false;
        let policyStarts: number[] = [];
        let seen = 0;
        const look = (before: Supervision) => {
          for (const action of subject.actions.slice(seen)) {
            if (action === "spawn") {
              expect(alive).toBe(false);
              expect(wanted).toBe(true);
              alive = true;
              killed = false;
              if (subject.state.byHand) policyStarts = [];
              else policyStarts.push(before.restartsMs.at(-1) ?? Number.NaN);
            } else {
              expect(subject.state.phase).toBe("stopping");
            }
            if (action === "kill") killed = true;
          }
          seen = subject.actions.length;
          const { phase, deadlineMs, restartsMs } = subject.state;
          const holdsProcess = ["starting", "ready", "unhealthy", "stopping"].includes(phase);
          expect(holdsProcess).toBe(alive);
          // Whatever is not at rest and not serving has a time, or a process that dies now.
          if (["starting", "unhealthy", "backoff"].includes(phase)) expect(deadlineMs).toBeDefined();
          if (phase === "stopping") expect(deadlineMs !== undefined || killed).toBe(true);
          if (["stopped", "crash_loop", "ready"].includes(phase)) expect(deadlineMs).toBeUndefined();
          expect(restartsMs.length).toBeLessThanOrEqual(policy.max_burst);
          for (const at of policyStarts) {
            const within = policyStarts.filter((other) => other >= at && other - at < policy.burst_window_ms);
            expect(within.length).toBeLessThanOrEqual(policy.max_burst);
          }
        };
        for (const step of steps) {
          const before = subject.state;
          if (step.do === "tell") {
            subject.tell(step.event);
            const isStart = step.event.type === "restart";
            if (step.event.type === "stop") wanted = false;
            if (isStart) wanted = true;
            const rested = before.phase === "stopped" || before.phase === "crash_loop";
            if (rested && !isStart) expect(subject.actions.length).toBe(seen);
          } else if (step.do === "wait") {
            subject.after(step.ms);
          } else if (step.do === "fail_to_start" && subject.state.phase === "starting" && alive) {
            alive = false;
            subject.tell({ type: "start_failed", reason: failure });
          } else if (step.do === "die" && alive) {
            subject.tell({ type: "exited", exit: step.end });
            expect(subject.state.phase).toBe("stopping");
            killed = true;
            alive = false;
            subject.tell({ type: "gone", exit: step.end });
          }
          look(before);
        }
      }),
      { numRuns: runs(60) },
    );
  });
});

describe("the wait before a restart", () => {
  it("follows the core's owner before the manifest before the defaults", () => {
    expect(
      restartSettings({ policy: "never", max_burst: 2 }, { policy: "always", max_backoff_ms: 100 }),
    ).toEqual({
      policy: "never",
      initial_backoff_ms: 100,
      max_backoff_ms: 100,
      max_burst: 2,
      burst_window_ms: 60_000,
      stable_after_ms: 30_000,
    });
  });
});
