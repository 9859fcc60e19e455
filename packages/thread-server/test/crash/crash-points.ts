import {
  type DiskImage,
  type DiskOp,
  imageKey,
  ModelDisk,
  type Survival,
} from "../../../../test-kit/model-disk.ts";
import type { Step } from "../../../../test-kit/model-file-system.ts";
import { evidenceOf, type Life } from "./life.ts";
import type { Crash } from "./verify.ts";

/** A crash that leaves something else than every other one. */
export interface CrashPoint extends Omit<Crash, "nextLife"> {
  readonly label: string;
}

/** Where a write can be torn: at its beginning, its middle and its end, and around the ends of the lines of a log. */
const tears = (call: string, bytes: Uint8Array): number[] => {
  const at = new Set([1, bytes.length >> 1, bytes.length - 1]);
  if (call === "write") {
    for (let index = 0; index < bytes.length; index++) if (bytes[index] === 10) at.add(index).add(index + 1);
  }
  return [...at].filter((length) => length > 0 && length < bytes.length);
};

/** What a step does to the disk, part by part: the states in the middle of it. */
const middles = ({ call, ops }: Step): DiskOp[][] => {
  const [first] = ops;
  if (ops.length === 1 && first?.op === "write") {
    return tears(call, first.bytes).map((length) => [{ ...first, bytes: first.bytes.subarray(0, length) }]);
  }
  return ops.slice(1).map((_, index) => ops.slice(0, index + 1));
};

/**
 * Every crash of a life that can be told from others: before each step, in the middle of it and after the last one, for
 * each way to survive. Of crashes that leave the same on the disk the last one is kept, when a client had seen the most.
 */
export const crashPoints = (
  life: Life,
  /** Disks on which part of the unflushed survived, to be tried after each step. */
  draws: (step: number) => readonly (() => number)[],
): readonly CrashPoint[] => {
  const { journal, image } = life.fileSystem;
  const points = new Map<string, CrashPoint>();
  const look = (disk: ModelDisk, step: number, where: string, ways: readonly [string, Survival][]) => {
    for (const [way, survival] of ways) {
      const left: DiskImage = disk.survivors(survival);
      const wholeLogSurvives = survival === "written";
      const evidence = evidenceOf(life, step);
      const key = `${wholeLogSurvives} ${imageKey(left)}`;
      points.set(key, { label: `${where}, ${way}`, image: left, evidence, wholeLogSurvives });
    }
  };
  const replay = (count: number): ModelDisk => {
    const disk = new ModelDisk(image);
    for (const { ops } of journal.slice(0, count)) for (const op of ops) disk.apply(op);
    return disk;
  };
  const disk = new ModelDisk(image);
  for (let step = 0; step <= journal.length; step++) {
    const { call, ops } = journal[step] ?? { call: "the end", ops: [] };
    const ways: [string, Survival][] = [
      ["what was written survives", "written"],
      ["what was flushed survives", "flushed"],
    ];
    const partial = draws(step).map((draw, index): [string, Survival] => [`disk ${index} survives`, draw]);
    look(disk, step, `before step ${step} (${call})`, [...ways, ...partial]);
    for (const [index, part] of middles({ call, ops }).entries()) {
      const torn = replay(step);
      for (const op of part) torn.apply(op);
      look(torn, step, `in step ${step} (${call}, part ${index})`, ways);
    }
    for (const op of ops) disk.apply(op);
  }
  return [...points.values()];
};
