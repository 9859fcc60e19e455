import { afterAll, describe, expect, it } from "vitest";
import { isNightly } from "../../../../scripts/lib/nightly.ts";
import { nextTurn } from "../../../../scripts/lib/test-kit.ts";
import { crashPoints } from "./crash-points.ts";
import { Figures, inTime, judge, seeded } from "./judge.ts";
import { evidenceOf, Life } from "./life.ts";
import { scripts } from "./scripts.ts";
import { verifyRestart } from "./verify.ts";

/** How many partly flushed disks are drawn for each step. */
const drawsPerStep = isNightly ? 4 : 1;

/** One of so many crash points is tried. */
const oneOf = isNightly ? 1 : 13;
const figures = new Figures();

const record = async ({ run, maxWriteBytes }: (typeof scripts)[number]): Promise<Life> => {
  const life = new Life("A", maxWriteBytes === undefined ? {} : { maxWriteBytes });
  await inTime(run(life), "the script");
  return life;
};

describe("a server that dies once", () => {
  it.each(scripts)(
    "at any step of $name loses nothing that was answered or told, and does nothing twice",
    async (script) => {
      const life = await record(script);
      const {
        steps,
        looked,
        points: all,
      } = crashPoints(life, {
        draws: (step) => Array.from({ length: drawsPerStep }, (_, index) => seeded(step * 1000 + index)),
      });
      const points = all.filter((_, index) => index % oneOf === 0);
      const { broken, lives } = await judge(points, "B");
      figures.add("steps", steps);
      figures.add("crash points", looked);
      figures.add("distinct states", points.length);
      figures.add("restarts", lives.size);
      expect(broken).toEqual([]);
      expect(lives.size).toBe(points.length);
    },
    60_000 * drawsPerStep,
  );

  it("is no other for a client than one whose disk stops answering", async () => {
    const [script] = scripts;
    if (!script) throw new Error("no script");
    const { now: steps } = await record(script);
    for (let step = 0; step < steps; step += 3 * oneOf) {
      for (const half of [false, true]) {
        const plan = (at: number) => (at === step ? ({ fault: "crash", half } as const) : undefined);
        const life = new Life("A", { plan });
        void script.run(life).catch(() => {});
        while (!life.fileSystem.hasCrashed) await nextTurn(30);
        await nextTurn(30);
        const evidence = evidenceOf(life, Number.POSITIVE_INFINITY);
        const image = life.fileSystem.disk.survivors("written");
        const restart = verifyRestart({ image, evidence, wholeLogSurvives: true, nextLife: "B" });
        await inTime(restart, `the restart after step ${step}`);
        figures.add("live crashes");
      }
    }
  }, 60_000);
});

afterAll(() => figures.print("one crash"));
