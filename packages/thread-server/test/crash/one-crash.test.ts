import { expect, it } from "vitest";
import { isNightly } from "../../../../test-kit/nightly.ts";
import { crashPoints } from "./crash-points.ts";
import { inTime, judge, seeded } from "./judge.ts";
import { Life } from "./life.ts";
import { scripts } from "./scripts.ts";

/** How many partly flushed disks are drawn for each step. */
const drawsPerStep = isNightly ? 4 : 1;

/** One of so many crash points is tried. */
const oneOf = isNightly ? 1 : 13;

it.each(scripts)(
  "a server that dies at any step of $name loses nothing that was answered or told, and does nothing twice",
  async ({ run, maxWriteBytes }) => {
    const life = new Life("A", maxWriteBytes === undefined ? {} : { maxWriteBytes });
    await inTime(run(life), "the script");
    const points = crashPoints(life, (step) =>
      Array.from({ length: drawsPerStep }, (_, index) => seeded(step * 1000 + index)),
    );
    expect(await judge(points.filter((_, index) => index % oneOf === 0))).toEqual([]);
  },
  60_000 * drawsPerStep,
);
