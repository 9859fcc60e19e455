import { createManualClock } from "@harnesskit/wire/testing";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../../../../test-kit/nightly.ts";
import {
  Supervision,
  type SupervisionAction,
  type SupervisionSettings,
} from "../../src/launch/supervision.ts";

const exit = (code: number | null, signal: NodeJS.Signals | null = null) => ({ code, signal });
const failure = { code: "start_failed", message: "no" } as const;

const settingsWith = (restart: Partial<SupervisionSettings["restart"]>): SupervisionSettings => ({
  restart: {
    policy: "on-failure",
    initial_backoff_ms: 200,
    max_backoff_ms: 30_000,
    max_burst: 5,
    burst_window_ms: 60_000,
    stable_after_ms: 30_000,
    ...restart,
  },
  startTimeoutMs: 1000,
  reconnectTimeoutMs: 300,
  unhealthyTimeoutMs: 400,
  drainTimeoutMs: 600,
  goodbyeGraceMs: 100,
  stopGraceMs: 700,
});

/** An agent's supervision with its clock, and what it asked for. */
class Subject extends Supervision {
  readonly clock;
  readonly actions: SupervisionAction[];

  constructor(
    restart: Partial<SupervisionSettings["restart"]> = {},
    onAction: (action: SupervisionAction) => void = () => {},
  ) {
    const clock = createManualClock();
    const actions: SupervisionAction[] = [];
    const perform = (action?: SupervisionAction) => {
      if (!action) return;
      actions.push(action);
      onAction(action);
    };
    super(settingsWith(restart), clock, perform, () => 1);
    this.clock = clock;
    this.actions = actions;
  }

  get waitMs(): number {
    return (this.deadlineMs ?? Number.NaN) - this.clock.elapsedMs();
  }

  after(ms: number): this {
    this.clock.advance(ms);
    return this;
  }

  /** Started by hand, and serving. */
  serve(): this {
    if (this.phase === "stopped" || this.phase === "crash_loop") this.restart();
    this.connected();
    this.registered();
    return this;
  }

  die(code: number | null, signal: NodeJS.Signals | null = null): this {
    this.exited(exit(code, signal));
    this.gone(exit(code, signal), undefined, true);
    return this;
  }
}

const serving = (restart: Partial<SupervisionSettings["restart"]> = {}) => new Subject(restart).serve();

describe("the supervision of an agent", () => {
  it("goes from a start to serving, and by a wish to rest: calls, goodbye, SIGTERM, SIGKILL", () => {
    const subject = new Subject();
    subject.restart();
    expect(subject.phase).toBe("starting");
    subject.serve();
    expect(subject).toMatchObject({ phase: "ready", deadlineMs: undefined });
    subject.stop();
    expect(subject.actions).toEqual(["spawn", "drain"]);
    expect(subject.after(599).actions).toEqual(["spawn", "drain"]);
    expect(subject.after(1).actions).toEqual(["spawn", "drain", "goodbye"]);
    expect(subject.after(100).actions).toEqual(["spawn", "drain", "goodbye", "terminate"]);
    expect(subject.after(700).actions).toEqual(["spawn", "drain", "goodbye", "terminate", "kill"]);
    expect(subject.die(null, "SIGKILL")).toMatchObject({ phase: "stopped", reason: undefined, restarts: 0 });
  });

  it("ends at once when asked to, and without a goodbye when it is not connected", () => {
    const ready = serving();
    ready.stop(true);
    expect(ready.actions).toEqual(["spawn", "goodbye"]);
    const patient = serving();
    patient.restart();
    patient.stop(true);
    expect(patient.actions).toEqual(["spawn", "drain", "goodbye"]);
    expect(patient.die(0).phase).toBe("stopped");
    const again = serving();
    again.stop(true);
    again.restart();
    expect(again.actions).toEqual(["spawn", "goodbye"]);
    expect(again.die(0).actions).toEqual(["spawn", "goodbye", "spawn"]);
    const starting = new Subject();
    starting.restart();
    starting.stop(true);
    expect(starting.actions).toEqual(["spawn", "terminate"]);
  });

  it("kills an agent that stays unhealthy, and not one that recovers", () => {
    const subject = serving();
    subject.health("unhealthy", "3 heartbeats are missing");
    const reason = { code: "unhealthy", message: "3 heartbeats are missing" };
    expect(subject).toMatchObject({ phase: "unhealthy", reason });
    subject.after(399).health("ok");
    expect(subject).toMatchObject({ phase: "ready", deadlineMs: undefined });
    subject.health("unhealthy");
    // More tools are no better health.
    subject.registered();
    expect(subject.phase).toBe("unhealthy");
    expect(subject.after(400).actions).toEqual(["spawn", "kill"]);
    expect(subject.die(null, "SIGKILL")).toMatchObject({ phase: "backoff", reason: { code: "unhealthy" } });
  });

  it("gives an agent whose session ended time to exit or to come back", () => {
    const lost = serving();
    lost.disconnected("it closed the connection");
    expect(lost.after(299)).toMatchObject({ phase: "unhealthy", reason: { code: "disconnected" } });
    expect(lost.serve()).toMatchObject({ phase: "ready", deadlineMs: undefined });
    lost.disconnected("again");
    expect(lost.after(300).actions).toEqual(["spawn", "kill"]);

    const left = serving();
    left.disconnected("it closed the connection");
    const reason = { code: "exited", message: "its process ended with code 0" };
    expect(left.die(0)).toMatchObject({ phase: "stopped", reason });
  });

  it.each([
    { policy: "never", code: 1, phase: "stopped" },
    { policy: "on-failure", code: 1, phase: "backoff" },
    { policy: "on-failure", code: 0, phase: "stopped" },
    { policy: "always", code: 0, phase: "backoff" },
  ] as const)("after exit $code by the policy $policy: $phase", ({ policy, code, phase }) => {
    expect(serving({ policy }).die(code)).toMatchObject({ phase, reason: { code: "exited" } });
  });

  it("doubles the wait, gives up after a burst, and starts again by hand", () => {
    const subject = new Subject();
    subject.restart();
    const waits: number[] = [];
    for (let restart = 0; restart < 5; restart++) {
      expect(subject.die(3).phase).toBe("backoff");
      waits.push(subject.waitMs);
      expect(subject.after(subject.waitMs)).toMatchObject({ phase: "starting", restarts: restart + 1 });
    }
    expect(waits).toEqual([200, 400, 800, 1600, 3200]);
    subject.die(3);
    expect(subject).toMatchObject({ phase: "crash_loop", reason: { code: "crash_loop" } });
    expect(subject.reason?.message).toContain("its process ended with code 3");
    expect(subject.deadlineMs).toBeUndefined();
    expect(subject.serve()).toMatchObject({ phase: "ready", restarts: 0 });
    expect(subject.die(3).waitMs).toBe(200);
  });

  it("starts with a small wait again after a stable run, and not after a shorter one", () => {
    const subject = serving({ max_burst: 100 }).die(1).after(200);
    subject.serve().after(29_999).die(1);
    expect(subject.waitMs).toBe(400);
    subject.after(400).serve().after(30_000).die(1);
    expect(subject.waitMs).toBe(200);
  });
});

const events: readonly ((subject: Subject) => void)[] = [
  (subject) => subject.connected(),
  (subject) => subject.registered(),
  (subject) => subject.disconnected("gone"),
  (subject) => subject.drained(),
  (subject) => subject.health("unhealthy"),
  (subject) => subject.health("ok"),
];

/** What its owner wishes and its process does, and beside: time passes, and a process fails to start or ends. */
const steps = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...events).map((event) => ({ do: "event" as const, event })) },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom("restart" as const, "stop" as const, "end" as const)
      .map((wish) => ({ do: wish })),
  },
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

it("the supervision of an agent, in any order of events, has one process at the most, never hangs, never starts what should rest, and stays within the burst", () => {
  fc.assert(
    fc.property(policies, fc.array(steps, { maxLength: 80, size: "max" }), (policy, sequence) => {
      let isAlive = false;
      let isKilled = false;
      /** It was asked to run, and not to rest since. */
      let isWanted = false;
      /** When the policy decided its restarts. */
      let decidedMs: number[] = [];
      let backoffSinceMs: number | undefined;
      const subject = new Subject(policy, (action) => {
        if (action !== "spawn") expect(subject.phase).toBe("stopping");
        if (action === "kill") isKilled = true;
        if (action !== "spawn") return;
        expect(isAlive).toBe(false);
        expect(isWanted).toBe(true);
        isAlive = true;
        isKilled = false;
        if (subject.restarts === 0) decidedMs = [];
        else decidedMs.push(backoffSinceMs ?? Number.NaN);
      });
      const look = () => {
        const { phase, deadlineMs } = subject;
        expect(["starting", "ready", "unhealthy", "stopping"].includes(phase)).toBe(isAlive);
        // Whatever is not at rest and not serving has a time, or a process that dies now.
        if (["starting", "unhealthy", "backoff"].includes(phase)) expect(deadlineMs).toBeDefined();
        if (phase === "stopping") expect(deadlineMs !== undefined || isKilled).toBe(true);
        if (["stopped", "crash_loop", "ready"].includes(phase)) expect(deadlineMs).toBeUndefined();
        backoffSinceMs = phase === "backoff" ? subject.sinceMs : backoffSinceMs;
        for (const at of decidedMs) {
          const within = decidedMs.filter((other) => other >= at && other - at < policy.burst_window_ms);
          expect(within.length).toBeLessThanOrEqual(policy.max_burst);
        }
      };
      for (const step of sequence) {
        const isResting = subject.phase === "stopped" || subject.phase === "crash_loop";
        const { length } = subject.actions;
        if (step.do === "event") step.event(subject);
        else if (step.do === "wait") subject.after(step.ms);
        else if (step.do === "restart") {
          isWanted = true;
          subject.restart();
        } else if (step.do === "stop" || step.do === "end") {
          isWanted = false;
          subject.stop(step.do === "end");
        } else if (step.do === "fail_to_start" && subject.phase === "starting") {
          isAlive = false;
          subject.gone(undefined, failure, false);
        } else if (step.do === "die" && isAlive) {
          subject.exited(step.end);
          expect(subject.phase).toBe("stopping");
          isKilled = true;
          isAlive = false;
          subject.gone(step.end, undefined, true);
        }
        if (isResting && step.do !== "restart") expect(subject.actions.length).toBe(length);
        look();
      }
    }),
    { numRuns: runs(60) },
  );
});
