import { execFileSync } from "node:child_process";
import {
  appendFile,
  chmod,
  link,
  mkdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { ModelFileSystem } from "../../../test-kit/model-file-system.ts";
import { rejection, temporaryDirectory, thrown } from "../../../test-kit/test-kit.ts";
import { JournalFile, readLines, UnsafeFileError } from "../src/index.ts";

const maxBytes = 10_000;

const linesOf = (journal: JournalFile): string[] =>
  [...readLines(journal.end, 1000)].map(({ bytes }) => bytes?.toString("utf8") ?? "too long");

const expectJournalError = (work: () => unknown, code: string): void =>
  expect(thrown(work)).toMatchObject({ name: "JournalError", code });

/** A directory of each test's own, and a path in it. */
let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
let path: string;
beforeEach(async () => {
  directory = await temporaryDirectory();
  path = join(directory.path, "log");
  return () => directory[Symbol.asyncDispose]();
});

describe("a journal", () => {
  it("keeps lines in order, for its user alone, and goes on behind them", async () => {
    const first = new JournalFile({ path, maxBytes });
    first.append("one\n");
    await first.appendFlushed("two\nthree\n");
    await first.close();
    await first.close();
    await chmod(path, 0o644);
    const next = new JournalFile({ path, maxBytes });
    next.append("four\n");
    expect(linesOf(next)).toEqual(["one", "two", "three", "four"]);
    expect(next.lastLine()?.toString()).toBe("four");
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    await next.close();
    expectJournalError(() => next.append("five\n"), "journal_closed");
  });

  it.each([
    ["a line without its end", "two", "one\n"],
    ["room that was never written", "two\n\0\0\0\0three\n", "one\ntwo\n"],
    ["nothing", "", "one\n"],
  ])(
    "goes on behind its last whole line where %s follows, and touches nothing before",
    async (_, tail, left) => {
      await writeFile(path, `one\n${tail}`);
      const journal = new JournalFile({ path, maxBytes, flushedBefore: "" });
      expect(journal.removedBytes).toBe(4 + tail.length - left.length);
      expect(await readFile(path, "utf8")).toBe(`one\n${tail}`);
      journal.append("new\n");
      expect(await readFile(path, "utf8")).toBe(`${left}new\n`);
      await journal.close();
    },
  );

  it("looks for room that was never written only behind what was flushed", async () => {
    const text = `a\0b\n${"x".repeat(100_000)}\nflushed here\n${"y".repeat(100_000)}\n`;
    await writeFile(path, `${text}\0\n`);
    const journal = new JournalFile({ path, maxBytes: 1_000_000, flushedBefore: "flushed here" });
    journal.append("new\n");
    expect(await readFile(path, "utf8")).toBe(`${text}new\n`);
    await journal.close();
  });

  it("takes nothing beyond its limit, and opens no larger file", async () => {
    const journal = new JournalFile({ path, maxBytes: 8 });
    journal.append("one\n");
    expectJournalError(() => journal.append("three\n"), "journal_full");
    journal.append("two\n");
    await journal.close();
    const error = thrown(() => new JournalFile({ path, maxBytes: 7 }));
    expect(UnsafeFileError.isInstance(error)).toBe(true);
    expect(error).toMatchObject({ code: "unsafe_file", reason: "too_large" });
  });

  it("is refused where it is a link, no file, has a second name, or others can write to it", async () => {
    const at = (name: string) => join(directory.path, name);
    await writeFile(at("target"), "");
    await symlink(at("target"), at("link"));
    await mkdir(at("folder"));
    execFileSync("mkfifo", [at("fifo")]);
    await writeFile(at("open"), "", { mode: 0o600 });
    await chmod(at("open"), 0o666);
    await writeFile(at("two"), "");
    await link(at("two"), at("second"));
    const reasons = {
      link: "link",
      folder: "not_regular",
      fifo: "not_regular",
      open: "not_private",
      second: "not_private",
    };
    for (const [name, reason] of Object.entries(reasons))
      expect(thrown(() => new JournalFile({ path: at(name), maxBytes }))).toMatchObject({
        code: "unsafe_file",
        reason,
      });
  });

  it.each<[string, () => Promise<void>]>([
    ["removed", () => rm(path)],
    ["moved", () => rename(path, `${path}.old`)],
    ["cut", () => writeFile(path, "")],
    ["replaced", () => rm(path).then(() => writeFile(path, "one\n"))],
    ["written by another process", () => appendFile(path, "two\n")],
  ])("says that it was %s, from then on every time", async (_, change) => {
    const journal = new JournalFile({ path, maxBytes });
    journal.append("one\n");
    journal.demandPlace();
    await change();
    for (let time = 0; time < 2; time++) expectJournalError(() => journal.demandPlace(), "journal_displaced");
    await journal.close();
  });

  it("is replaced as a whole or not at all, and made anew where its name is free", async () => {
    const journal = new JournalFile({ path, maxBytes: 12 });
    journal.append("one\n");
    const broken = function* () {
      yield "two\n";
      throw new RangeError("no more");
    };
    expect(thrown(() => journal.replace(broken()))).toBeInstanceOf(RangeError);
    expectJournalError(() => journal.replace(["0123456789\n", "0123456789\n"]), "journal_full");
    expect(linesOf(journal)).toEqual(["one"]);
    await rm(path);
    journal.replace(["two\n"]);
    journal.append("three\n");
    expect(await readFile(path, "utf8")).toBe("two\nthree\n");
    await rm(path);
    await writeFile(path, "another's\n");
    expectJournalError(() => journal.replace(["four\n"]), "journal_displaced");
    expect(await readFile(path, "utf8")).toBe("another's\n");
    await journal.close();
  });

  it("gives its full file another name, and replaces none", async () => {
    const journal = new JournalFile({ path, maxBytes });
    journal.append("one\n");
    await writeFile(`${path}.1`, "mine");
    expect(await rejection(journal.rotate(`${path}.1`))).toMatchObject({
      name: "JournalError",
      code: "journal_displaced",
    });
    await journal.rotate(`${path}.2`);
    journal.append("two\n");
    expect(await readFile(`${path}.2`, "utf8")).toBe("one\n");
    expect(await readFile(path, "utf8")).toBe("two\n");
    await journal.close();
  });
});

describe("a journal on a disk that fails", () => {
  const open = async () => {
    const fileSystem = new ModelFileSystem({ image: new Map([["d", undefined]]), maxWriteBytes: 3 });
    const journal = new JournalFile({ path: "/d/log", maxBytes, fileSystem: fileSystem.calls });
    const text = () => fileSystem.disk.content(fileSystem.disk.find("/d/log") ?? -1).toString("utf8");
    return { fileSystem, journal, text };
  };

  it("takes back what was written of an append, at once or before the next one", async () => {
    const { fileSystem, journal, text } = await open();
    journal.append("one\n");
    fileSystem.plan = (_step, call) =>
      call === "write" ? { fault: "fail", code: "ENOSPC", half: true } : undefined;
    expect(thrown(() => journal.append("two two two\n"))).toMatchObject({ code: "ENOSPC" });
    expect(text()).toBe("one\n");
    fileSystem.plan = (_step, call) =>
      call === "write" || call === "truncate" ? { fault: "fail", code: "EIO", half: true } : undefined;
    expect(thrown(() => journal.append("two two two\n"))).toMatchObject({ code: "EIO" });
    fileSystem.plan = () => undefined;
    journal.append("three\n");
    expect(text()).toBe("one\nthree\n");
    await journal.close();
  });

  it("has no line that could not be flushed", async () => {
    const { fileSystem, journal, text } = await open();
    fileSystem.plan = (_step, call) => (call === "datasync" ? { fault: "fail", code: "EIO" } : undefined);
    await expect(journal.appendFlushed("one\n")).rejects.toMatchObject({ code: "EIO" });
    fileSystem.plan = () => undefined;
    await journal.appendFlushed("two\n");
    expect(text()).toBe("two\n");
    await journal.close();
  });

  it("flushes once for all that wait for it", async () => {
    const { fileSystem, journal } = await open();
    journal.append("one\n");
    const first = journal.flush();
    journal.append("two\n");
    await Promise.all([first, journal.flush(), journal.flush(), journal.flush()]);
    expect(fileSystem.journal.filter(({ call }) => call === "datasync").length).toBeLessThanOrEqual(2);
    expect(fileSystem.disk.survivors("flushed").get("d/log")?.toString()).toBe("one\ntwo\n");
    await journal.close();
  });
});
