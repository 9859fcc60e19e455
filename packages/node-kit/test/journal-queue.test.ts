import { describe, expect, it, onTestFinished, vi } from "vitest";
import { ModelFileSystem } from "../../../test-kit/model-file-system.ts";
import { JournalError, JournalFile, JournalQueue } from "../src/index.ts";

const open = async (maxBytes = 1000) => {
  const fileSystem = new ModelFileSystem({ image: new Map([["d", undefined]]) });
  const journal = new JournalFile({ path: "/d/log", maxBytes: 100_000, fileSystem: fileSystem.calls });
  const errors: unknown[] = [];
  const queue = new JournalQueue(journal, { maxBytes, onError: (error) => errors.push(error) });
  onTestFinished(() => queue.stop());
  const text = (name: string) => fileSystem.disk.survivors("flushed").get(name)?.toString("utf8") ?? "";
  return { fileSystem, queue, errors, text };
};

const fullDisk = (_step: number, call: string) =>
  call === "write" ? ({ fault: "fail", code: "ENOSPC" } as const) : undefined;

describe("a queue before a journal", () => {
  it("writes together what was pushed, in order, and durably when it is flushed", async () => {
    const { fileSystem, queue, text } = await open();
    for (const line of ["one\n", "two\n", "three\n"]) queue.push(line);
    await queue.flush();
    expect(text("d/log")).toBe("one\ntwo\nthree\n");
    expect(fileSystem.journal.filter(({ call }) => call === "write")).toHaveLength(1);
  });

  it("begins the next file before the line that says so", async () => {
    const { queue, text } = await open();
    queue.push("one\n");
    queue.push("two\n", "/d/log.1");
    queue.push("three\n");
    await queue.flush();
    expect([text("d/log.1"), text("d/log")]).toEqual(["one\n", "two\nthree\n"]);
  });

  it("keeps what a full disk refuses, refuses what finds no room, and loses nothing when there is room again", async () => {
    const { fileSystem, queue, errors, text } = await open(20);
    fileSystem.plan = fullDisk;
    for (const line of ["one\n", "two\n"]) {
      queue.push(line);
      await expect(queue.flush()).rejects.toMatchObject({ code: "ENOSPC" });
    }
    expect(errors).toHaveLength(1);
    expect(queue.length).toBe(2);
    expect(() => queue.push("a line without room\n")).toThrow(JournalError);
    fileSystem.plan = () => undefined;
    queue.push("three\n");
    await queue.flush();
    expect(text("d/log")).toBe("one\ntwo\nthree\n");
  });

  it("tries again by itself", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const { fileSystem, queue } = await open();
    fileSystem.plan = fullDisk;
    queue.push("one\n");
    await vi.advanceTimersByTimeAsync(10);
    expect(queue.length).toBe(1);
    fileSystem.plan = () => undefined;
    await vi.advanceTimersByTimeAsync(1000);
    expect(queue.length).toBe(0);
  });
});
