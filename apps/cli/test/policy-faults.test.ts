import { beforeAll, describe, expect, it, vi } from "vitest";
import { isNightly } from "../../../scripts/lib/nightly.ts";
import { type Fault, FaultyRuns, faults, type RunResult } from "./support/faulty-runs.ts";

/** Why nothing may happen with each fault. */
const reasons: Readonly<Record<Fault, string>> = {
  kill: "gate.unavailable",
  hang: "gate.timeout",
  slow: "gate.timeout",
  garble: "gate.unavailable",
  noise: "gate.timeout",
};

/** A hung harness is ended and started again after two timeouts, and is away for a moment. */
const alsoRight: Readonly<Partial<Record<Fault, string>>> = {
  hang: "gate.unavailable",
  slow: "gate.unavailable",
  noise: "gate.unavailable",
};

const isBlocked = (code: string | undefined, fault: Fault): boolean =>
  code === reasons[fault] || code === alsoRight[fault];

/** What must hold of a run whatever happens to its harness. */
const judge = (result: RunResult, fault: Fault, what: string): void => {
  const { end, terminals, items, effects, allowed } = result;
  const inTime = allowed.filter(({ isInTime }) => isInTime).map(({ tool_name: tool }) => tool);
  for (const effect of effects) {
    expect(inTime, `${what}: ${effect} had an effect and was not allowed`).toContain(effect);
  }
  expect(terminals, `${what}: ends`).toBe(1);
  if (end !== "completed") expect(isBlocked(end, fault), `${what}: it ended with ${end}`).toBe(true);
  for (const { tool, status, code } of items) {
    if (status === "succeeded") expect(inTime, `${what}: ${tool} ran`).toContain(tool);
    else {
      expect(status, `${what}: ${tool}`).toBe("blocked");
      expect(isBlocked(code, fault), `${what}: ${tool} was not run because of ${code}`).toBe(true);
    }
  }
};

/**
 * What the harness was told in the last run: `pre_action write`, `run_lifecycle created` and the like. Reports arrive
 * behind the run that they are about, so that a run which nothing stopped is waited for.
 */
const toldIn = async (runs: FaultyRuns, isTold: (names: string[]) => boolean): Promise<string[]> =>
  vi.waitFor(async () => {
    const names = (await runs.events()).map(({ type, status, tool }) =>
      [type, tool ?? status].filter((word) => word !== undefined).join(" "),
    );
    if (!isTold(names)) throw new RangeError(`only told: ${names.join(", ")}`);
    return names;
  });

describe("a harness that fails at any event of a run", () => {
  let events: string[] = [];

  beforeAll(async () => {
    const runs = await FaultyRuns.start();
    const sound = await runs.run();
    expect(sound).toMatchObject({ end: "completed", terminals: 1, effects: ["write", "bash"] });
    expect(sound.items.map(({ status }) => status)).toEqual(["succeeded", "succeeded", "succeeded"]);
    events = await toldIn(runs, (names) => names.at(-1) === "run_lifecycle completed");
    await runs.close();
  }, 60_000);

  it("is told everything, in order", () => {
    expect(events.filter((name) => !/^(?:post_response|task_list)/.test(name))).toEqual([
      "session_start",
      "run_lifecycle created",
      "pre_prompt",
      "run_lifecycle executing",
      "pre_action write",
      "post_action write",
      "pre_prompt",
      "pre_action bash",
      "post_action bash",
      "pre_prompt",
      "pre_action read",
      "post_action read",
      "pre_prompt",
      "run_lifecycle completed",
    ]);
    expect(events.filter((name) => name.startsWith("post_response")).length).toBeGreaterThan(0);
    expect(events.filter((name) => name.startsWith("task_list")).length).toBeGreaterThan(0);
  });

  /**
   * The handshake (0), then the events at which the fault begins, counted from 1: where the harness is asked; of the faults that end as
   * others do, before the first action. Nightly: at each.
   */
  const placesOf = (fault: Fault): number[] => {
    const asked = ["kill", "hang"].includes(fault) ? /^pre_/ : /^pre_action write$/;
    const isFirst = (name: string, at: number) => events.indexOf(name) === at;
    const isWanted = (name: string, at: number) => isNightly || (isFirst(name, at) && asked.test(name));
    return [0, ...events.flatMap((name, at) => (isWanted(name, at) ? [at + 1] : []))];
  };

  // Each has a server of its own: most of the time they wait for a harness that does not answer.
  it.concurrent.each(faults)(
    "lets nothing happen unjudged, and the run ends with the right reason: %s",
    async (fault) => {
      const runs = await FaultyRuns.start();
      const places = placesOf(fault);
      for (const at of places) {
        const result = await runs.run(fault, at);
        const isStopped =
          result.end !== "completed" || result.items.some(({ status }) => status === "blocked");
        // A step's report may come before or behind its calls, so places are named by what this run told.
        const isOver = (names: string[]) => names.includes("run_lifecycle completed");
        const told = (await toldIn(runs, (names) => isStopped || names.length >= at || isOver(names))).slice(
          0,
          at,
        );
        // Lists of tasks are sent together: a run may tell fewer events than the one that was counted.
        const before = told.length < at ? told : told.slice(0, -1);
        const name = at === 0 ? "handshake" : (told[at - 1] ?? "nothing");
        const what = `${fault} at ${at} (${name})`;
        judge(result, fault, what);
        // From a gate on, nothing is allowed any more.
        if (at > 0 && !before.includes("pre_prompt")) {
          expect(isBlocked(result.end, fault), `${what}: the prompt was given: ${result.end}`).toBe(true);
          expect(result.items, what).toEqual([]);
        }
        if (name === "pre_action write") expect(result.effects, what).toEqual([]);
        if (name === "pre_action bash") expect(result.effects, what).toEqual(["write"]);
        // Behind the last gate there is nothing to be judged.
        const prompts = (names: string[]) => names.filter((each) => each === "pre_prompt").length;
        const isPassed = at > 0 && prompts(before) === prompts(events);
        expect(isStopped, `${what}: it was stopped`).toBe(!isPassed);
        if (at !== places.at(-1)) await runs.mend();
      }
      await runs.close();
      expect(places.length).toBeGreaterThanOrEqual(["kill", "hang"].includes(fault) ? 4 : 2);
    },
    240_000,
  );
});
