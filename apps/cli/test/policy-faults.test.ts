import { afterAll, beforeAll, describe, expect, it } from "vitest";
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

describe("a harness that fails at any event of a run", () => {
  let runs: FaultyRuns;
  let events: string[] = [];

  beforeAll(async () => {
    runs = await FaultyRuns.start();
    const sound = await runs.run();
    expect(sound).toMatchObject({ end: "completed", terminals: 1, effects: ["write", "bash"] });
    expect(sound.items.map(({ status }) => status)).toEqual(["succeeded", "succeeded", "succeeded"]);
    events = (await runs.events()).map(({ type, status, tool }) =>
      [type, tool ?? status].filter((word) => word !== undefined).join(" "),
    );
  }, 60_000);

  afterAll(() => runs.close());

  it("is told everything, in order", () => {
    expect(events.filter((name) => !name.startsWith("post_response"))).toEqual([
      "session_start",
      "run_lifecycle created",
      "pre_prompt",
      "run_lifecycle executing",
      "pre_action write",
      "post_action write",
      "pre_action bash",
      "post_action bash",
      "pre_action read",
      "post_action read",
      "run_lifecycle completed",
    ]);
    expect(events.filter((name) => name.startsWith("post_response")).length).toBeGreaterThan(0);
  });

  it.each(faults)(
    "lets nothing happen unjudged, and the run ends with the right reason: %s at each event",
    async (fault) => {
      let places = 0;
      let stopped = 0;
      for (let at = 0; at <= events.length; at++) {
        const what = `${fault} at ${at} (${events[at - 1] ?? "handshake"})`;
        const result = await runs.run(fault, at);
        judge(result, fault, what);
        // From a gate on, nothing is allowed any more.
        const name = events[at - 1] ?? "handshake";
        if (name === "pre_prompt" || (at <= events.indexOf("pre_prompt") && at > 0)) {
          expect(isBlocked(result.end, fault), `${what}: the prompt was given: ${result.end}`).toBe(true);
          expect(result.items, what).toEqual([]);
        }
        if (name === "pre_action write") expect(result.effects, what).toEqual([]);
        if (name === "pre_action bash") expect(result.effects, what).toEqual(["write"]);
        if (result.end !== "completed" || result.items.some(({ status }) => status === "blocked")) stopped++;
        places++;
        await runs.mend();
      }
      expect(places).toBe(events.length + 1);
      // The handshake, and every event up to the last gate; behind it there is nothing to be judged.
      expect(stopped).toBe(events.indexOf("pre_action read") + 2);
      process.stderr.write(`policy faults: ${fault} at ${places} places, ${stopped} runs were stopped\n`);
    },
    240_000,
  );
});
