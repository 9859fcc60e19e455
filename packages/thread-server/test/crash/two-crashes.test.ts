import { afterAll, describe, expect, it } from "vitest";
import { isNightly } from "../../../../scripts/lib/nightly.ts";
import { type CrashPoint, crashPoints } from "./crash-points.ts";
import { Figures, inTime, judge } from "./judge.ts";
import { Life } from "./life.ts";
import { scripts } from "./scripts.ts";
import { keptEvidence } from "./verify.ts";

const figures = new Figures();

/** By then the second server has opened its threads, answered what waited and ended the turn. */
const stepsOfTakeover = 200;

/** One of so many second crashes is tried. */
const oneOf = isNightly ? 1 : 151;

/** Crashes that leave most to do: a question that waits, an answer half-noted, a tool that runs, a deletion half-done. */
const interesting = (points: readonly CrashPoint[]): CrashPoint[] => {
  const kept = new Map<string, CrashPoint>();
  for (const point of points) {
    const log = [...point.image].find(([path]) => path.endsWith("events.jsonl"))?.[1]?.toString("utf8") ?? "";
    const last = /"type":"([a-z.]+)"/.exec(log.trimEnd().split("\n").at(-1) ?? "")?.[1];
    const names = [...point.image.keys()].map((path) => path.split("/").slice(3).join("/"));
    const marks = ["tmp_", "stale", "lock.json"].map((mark) => names.some((name) => name.includes(mark)));
    const isDeleting = [...point.image.keys()].some((path) => path.includes("deleted_"));
    const isWaiting = log.includes("approval.requested") && !log.includes("approval.resolved");
    kept.set(JSON.stringify([last, marks, isDeleting, isWaiting]), point);
  }
  return [...kept.values()];
};

describe("a server that dies while it takes over from one that died", () => {
  it.each(scripts.filter(({ name }) => /waiting for|deleted|never and always/.test(name)))(
    "at any step after a crash in $name loses nothing and does nothing twice",
    async ({ run }) => {
      const first = new Life("A");
      await inTime(run(first), "the script");
      const starts = interesting(crashPoints(first).points);
      const { broken, lives } = await judge(starts, "B");
      expect(broken).toEqual([]);
      const second: CrashPoint[] = [];
      for (const [start, life] of lives) {
        const { steps, looked, points } = crashPoints(life, {
          earlier: keptEvidence(start),
          untilStep: stepsOfTakeover,
        });
        figures.add("second lives");
        figures.add("steps", Math.min(steps, stepsOfTakeover));
        figures.add("crash points", looked);
        figures.add("distinct states", points.length);
        for (const point of points) second.push({ ...point, label: `${start.label}; then ${point.label}` });
      }
      const chosen = second.filter((_, index) => index % oneOf === 0);
      const outcome = await judge(chosen, "C");
      figures.add("restarts", starts.length + chosen.length);
      expect(outcome.broken).toEqual([]);
    },
    oneOf === 1 ? 600_000 : 60_000,
  );
});

afterAll(() => figures.print("two crashes"));
