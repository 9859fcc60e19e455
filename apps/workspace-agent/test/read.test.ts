import { execFileSync } from "node:child_process";
import { truncate } from "node:fs/promises";
import { createServer } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Fixture, failure, failureCode, run } from "./support/fixture.ts";

let fixture: Fixture;
beforeEach(async () => {
  fixture = await Fixture.create({ limits: { maxReadBytes: 1000 } });
});
afterEach(() => fixture[Symbol.asyncDispose]());

describe("read", () => {
  it("returns the text and where it stands", async () => {
    await fixture.put("src/a.txt", "one\ntwo\nthree\n");
    expect(await fixture.call("read", { path: "src/a.txt" })).toEqual({
      path: "src/a.txt",
      text: "one\ntwo\nthree\n",
      lines: { from: 1, to: 3, total: 3 },
    });
  });

  it.each([
    ["CRLF line ends", "a\r\nb\r\n", 2],
    ["no final line end", "a\nb", 2],
    ["a byte order mark", "\ufeffa\n", 1],
    ["only a line end", "\n", 1],
    ["bare carriage returns", "a\rb\n", 1],
    ["characters outside the BMP", "😀\n€\n", 2],
  ])("keeps %s", async (_, content, total) => {
    await fixture.put("a.txt", content);
    expect(await fixture.call("read", { path: "a.txt" })).toEqual({
      path: "a.txt",
      text: content,
      lines: { from: 1, to: total, total },
    });
  });

  it.each([
    [{ offset: 2 }, "l2\nl3\nl4", { from: 2, to: 4, total: 4 }],
    [{ limit: 2 }, "l1\nl2\n", { from: 1, to: 2, total: 4 }],
    [{ offset: 3, limit: 1 }, "l3\n", { from: 3, to: 3, total: 4 }],
    [{ offset: 4, limit: 9 }, "l4", { from: 4, to: 4, total: 4 }],
  ])("returns the lines asked for with %j", async (range, text, lines) => {
    await fixture.put("a.txt", "l1\nl2\nl3\nl4");
    expect(await fixture.call("read", { path: "a.txt", ...range })).toEqual({ path: "a.txt", text, lines });
  });

  it("refuses an offset past the end", async () => {
    await fixture.put("a.txt", "l1\nl2\n");
    const error = await failure(fixture.call("read", { path: "a.txt", offset: 3 }));
    expect(error.code).toBe("tool.invalid_input");
    expect(error.message).toContain("the file has 2 lines");
  });

  it("cuts a long file after a whole line and goes on from there", async () => {
    const lines = Array.from({ length: 30_000 }, (_, index) => `line ${index + 1}\n`);
    await fixture.put("long.txt", lines.join(""));
    const first = (await fixture.call("read", { path: "long.txt" })) as {
      text: string;
      lines: { to: number };
    };
    expect(first).toMatchObject({ truncated: true, lines: { from: 1, total: 30_000 } });
    expect(first.text).toBe(lines.slice(0, first.lines.to).join(""));
    expect(Buffer.byteLength(first.text)).toBeLessThanOrEqual(1000);
    const next = await fixture.call("read", { path: "long.txt", offset: first.lines.to + 1, limit: 1 });
    expect(next).toMatchObject({ text: lines[first.lines.to] });
    expect(next).not.toHaveProperty("truncated");
  });

  it("refuses a binary file, wherever the NUL is", async () => {
    await fixture.put("a.bin", Buffer.concat([Buffer.alloc(200_000, "text\n"), Buffer.from([0])]));
    const error = await failure(fixture.call("read", { path: "a.bin", limit: 1 }));
    expect(error.code).toBe("tool.binary_file");
    expect(error.message).toBe("a.bin is a binary file");
  });

  it("refuses a file that is too large to look into", async () => {
    await using small = await Fixture.create({ limits: { maxReadableFileBytes: 10 } });
    await small.put("a.txt", "01234567890");
    expect(await failureCode(small.call("read", { path: "a.txt" }))).toBe("tool.too_large");
  });

  it("reads the last state of a file that shrinks", async () => {
    await fixture.put("a.txt", "one\ntwo\n");
    const prepared = await fixture.prepare("read", { path: "a.txt" });
    await truncate(fixture.path("a.txt"), 4);
    expect(await run(prepared)).toMatchObject({ text: "one\n", lines: { total: 1 } });
  });

  it("refuses anything but a regular file, without hanging", async () => {
    await fixture.put("dir/file", "");
    execFileSync("mkfifo", [fixture.path("fifo")]);
    const server = createServer().listen(fixture.path("socket"));
    await new Promise((resolve) => server.once("listening", resolve));
    try {
      expect(await failure(fixture.call("read", { path: "dir" }))).toMatchObject({
        code: "tool.not_a_file",
        message: "dir is a directory, not a regular file",
      });
      expect(await failureCode(fixture.call("read", { path: "." }))).toBe("tool.not_a_file");
      expect(await failureCode(fixture.call("read", { path: "fifo" }))).toBe("tool.not_a_file");
      expect(await failureCode(fixture.call("read", { path: "socket" }))).toBe("tool.not_a_file");
    } finally {
      await new Promise((resolve) => server.close(resolve));
    }
  });

  it("says that a file is missing, by its path in the workspace only", async () => {
    await fixture.put("file", "");
    for (const path of ["no/such\nfile", "file/child"]) {
      const error = await failure(fixture.call("read", { path }));
      expect(error.code).toBe("tool.not_found");
      expect(error.message).not.toContain(fixture.base);
      expect(error.message).not.toContain("\n");
    }
  });

  it("stops when the turn is cancelled", async () => {
    await fixture.put("a.txt", "a\n");
    const prepared = await fixture.prepare("read", { path: "a.txt" });
    expect(await failureCode(run(prepared, { signal: AbortSignal.abort() }))).toBe("tool.canceled");
  });

  it.each([
    ["an offset of zero", { path: "a", offset: 0 }],
    ["a limit of zero", { path: "a", limit: 0 }],
    ["a fraction", { path: "a", offset: 1.5 }],
    ["an empty path", { path: "" }],
    ["a NUL in the path", { path: "a\0b" }],
    ["a name too long", { path: "x".repeat(256) }],
    ["a path too long", { path: "x/".repeat(2500) }],
    ["a lone surrogate in the path", { path: "a\udc00" }],
    ["no path", {}],
  ])("refuses %s", async (_, input) => {
    expect(await failureCode(fixture.prepare("read", input))).toBe("tool.invalid_input");
  });
});
