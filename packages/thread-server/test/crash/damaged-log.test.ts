import { afterAll, describe, it } from "vitest";
import type { DiskImage } from "../../../../scripts/lib/model-disk.ts";
import { isNightly } from "../../../../scripts/lib/nightly.ts";
import { Figures, inTime, several } from "./judge.ts";
import { Life, noEvidence } from "./life.ts";
import { scripts } from "./scripts.ts";
import { verifyRestart } from "./verify.ts";

const figures = new Figures();

/** The disk after a script, and the log on it. */
const finished = async (pattern: RegExp): Promise<{ image: DiskImage; path: string; log: Buffer }> => {
  const script = scripts.find(({ name }) => pattern.test(name));
  const life = new Life("A");
  await script?.run(life);
  const image = life.fileSystem.disk.survivors("written");
  const [path, log] = [...image].find(([name]) => name.endsWith("events.jsonl")) ?? [];
  if (path === undefined || !log) throw new Error("the script left no log");
  return { image, path, log };
};

const restart = async (image: DiskImage, path: string, log: Buffer, what: string): Promise<Life> => {
  figures.add("restarts");
  const crash = {
    image: new Map(image).set(path, log),
    evidence: noEvidence,
    wholeLogSurvives: true,
    nextLife: "B",
  };
  return inTime(verifyRestart(crash), what);
};

describe("a log that was damaged", () => {
  it.each([
    [/never and always/, 0],
    [/left waiting/, 1],
  ])(
    "is repaired wherever its end was cut off (%s; also within its last %i records)",
    async (pattern, records) => {
      const { image, path, log } = await finished(pattern);
      const ends: number[] = [];
      for (let end = log.indexOf(10); end !== -1; end = log.indexOf(10, end + 1)) ends.push(end + 1);
      const cuts = new Set(ends.flatMap((end) => [end - 1, end]));
      for (let size = ends.at(-records - 1) ?? 0; size < log.length; size += isNightly ? 1 : 23)
        cuts.add(size);
      figures.add("cuts", cuts.size);
      await several(cuts, async (size) => {
        await restart(image, path, log.subarray(0, size), `a restart with ${size} bytes`);
      });
    },
    60_000,
  );
});

afterAll(() => {
  figures.print("damaged logs");
});
