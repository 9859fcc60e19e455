import { describe, expect, it } from "vitest";
import { type DiskImage, ModelDisk, type Survival } from "../../../test-kit/model-disk.ts";
import { ModelFileSystem } from "../../../test-kit/model-file-system.ts";
import { JournalFile } from "../src/index.ts";

/** Lines that were appended, and those of them that were flushed, by the number of steps that the disk had made. */
interface Seen {
  readonly at: number;
  readonly lines: readonly string[];
  readonly flushed: readonly string[];
}

const path = "/journal/log";
const line = (number: number): string => `{"seq":${number},"text":"${"x".repeat(number * 7)}"}\n`;
const open = (fileSystem: ModelFileSystem): JournalFile =>
  new JournalFile({ path, maxBytes: 1_000_000, flushedBefore: "", fileSystem: fileSystem.calls });

const newDisk = (image: DiskImage = new Map([["journal", undefined]])): ModelFileSystem =>
  new ModelFileSystem({ image, maxWriteBytes: 40 });

/** What one process does, and what it knew to be there after each step. */
const live = async (fileSystem: ModelFileSystem): Promise<Seen[]> => {
  const seen: Seen[] = [];
  let lines: string[] = [];
  const note = (flushed = seen.at(-1)?.flushed ?? []) =>
    seen.push({ at: fileSystem.journal.length, lines: [...lines], flushed });
  const journal = open(fileSystem);
  const append = (number: number) => {
    journal.append(line(number));
    lines.push(line(number));
    note();
  };
  append(1);
  append(2);
  await journal.flush();
  note([...lines]);
  append(3);
  await journal.appendFlushed(line(4));
  lines.push(line(4));
  note([...lines]);
  append(5);
  journal.replace([line(2), line(5)]);
  lines = [line(2), line(5)];
  note([]);
  append(6);
  await journal.flush();
  note([...lines]);
  await journal.rotate(`${path}.1`);
  append(7);
  await journal.flush();
  note([...lines]);
  await journal.close();
  return seen;
};

const content = (image: DiskImage, name: string): string => image.get(name)?.toString("utf8") ?? "";

/** Every state that a crash can leave: before each step, in the middle of each write, and after the last one. */
const crashes = (fileSystem: ModelFileSystem): { at: number; disk: ModelDisk }[] => {
  const replay = (count: number): ModelDisk => {
    const disk = new ModelDisk(fileSystem.image);
    for (const { ops } of fileSystem.journal.slice(0, count)) for (const op of ops) disk.apply(op);
    return disk;
  };
  const all = [{ at: fileSystem.journal.length, disk: replay(fileSystem.journal.length) }];
  for (const [at, { ops }] of fileSystem.journal.entries()) {
    all.push({ at, disk: replay(at) });
    const [op] = ops;
    if (op?.op !== "write") continue;
    for (let length = 1; length < op.bytes.length; length += 3) {
      const disk = replay(at);
      disk.apply({ ...op, bytes: op.bytes.subarray(0, length) });
      all.push({ at, disk });
    }
  }
  return all;
};

describe("a journal whose process or machine dies", () => {
  it.each<[string, Survival]>([
    ["what was written", "written"],
    ["what was flushed", "flushed"],
    ["some of what was not flushed", () => 0.6],
    ["room that was never written", () => 0.9],
  ])(
    "at any step, and %s survives, goes on with whole lines and all that it must have",
    async (_, survival) => {
      const fileSystem = newDisk();
      const seen = await live(fileSystem);
      for (const { at, disk } of crashes(fileSystem)) {
        const known = seen.filter((each) => each.at <= at).at(-1);
        const later = newDisk(disk.survivors(survival));
        const old = content(later.image, "journal/log.1");
        const journal = open(later);
        const here = later.disk.content(later.disk.find(path) ?? -1).subarray(0, journal.size);
        const found = `${old}${here.toString("utf8")}`;
        expect(found, `after step ${at}`).toMatch(/^(?:\{"seq":\d,"text":"x*"\}\n)*$/);
        const must = survival === "written" ? known?.lines : known?.flushed;
        // A replacement that was under way may be there already.
        const mayBe = [must?.join("") ?? "", [line(2), line(5)].join("")];
        expect(
          mayBe.some((text) => found.startsWith(text)),
          `after step ${at}: ${found}`,
        ).toBe(true);
        journal.append(line(9));
        await journal.flush();
        const end = later.disk.content(later.disk.find(path) ?? -1).toString("utf8");
        expect(`${old}${end}`).toBe(`${found}${line(9)}`);
        await journal.close();
      }
    },
  );
});
