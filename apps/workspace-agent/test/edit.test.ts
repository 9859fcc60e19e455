import { chmod, stat } from "node:fs/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Fixture, failure, failureCode, run } from "./support/fixture.ts";

let fixture: Fixture;
beforeEach(async () => {
  fixture = await Fixture.create({ limits: { maxWriteBytes: 10_000 } });
});
afterEach(() => fixture[Symbol.asyncDispose]());

describe("edit", () => {
  it("replaces the one passage and shows the difference first", async () => {
    await fixture.put("a.txt", "one\r\ntwo\r\nthree");
    await chmod(fixture.path("a.txt"), 0o640);
    const prepared = await fixture.prepare("edit", { path: "./a.txt", oldText: "two", newText: "$&2$1" });
    expect(prepared.input).toEqual({ path: "a.txt", oldText: "two", newText: "$&2$1" });
    expect(prepared.preview).toContain(
      "--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n one\r\n-two\r\n+$&2$1\r\n three",
    );
    expect(await run(prepared)).toEqual({ path: "a.txt", replacements: 1 });
    expect(await fixture.text("a.txt")).toBe("one\r\n$&2$1\r\nthree");
    expect((await stat(fixture.path("a.txt"))).mode & 0o777).toBe(0o640);
  });

  it.each([
    ["one\r\ntwo\r\n", "one", "one\nnew", "one\r\nnew\r\ntwo\r\n"],
    ["\ufeffone\r\ntwo\r\nthree", "one\ntwo\n", "1\n\n", "\ufeff1\r\n\r\nthree"],
    ["one\r\ntwo", "one\r\ntwo", "1\r\n2\n", "1\r\n2\r\n"],
    ["one\ntwo\r\n", "one", "1\n2", "1\n2\ntwo\r\n"],
    ["one\rtwo\n", "one\rtwo", "1\n2", "1\n2\n"],
  ])("keeps CRLF where all lines have it: %j, %j for %j", async (content, oldText, newText, after) => {
    await fixture.put("a.txt", content);
    await fixture.call("edit", { path: "a.txt", oldText, newText });
    expect(await fixture.text("a.txt")).toBe(after);
  });

  it("refuses a change of nothing but line ends that are kept", async () => {
    await fixture.put("a.txt", "one\r\ntwo");
    const same = { path: "a.txt", oldText: "one\n", newText: "one\r\n" };
    expect(await failureCode(fixture.prepare("edit", same))).toBe("tool.invalid_input");
  });

  it("says when the passage is not there, and why if it can", async () => {
    await fixture.put("a.txt", "one\r\ntwo\n");
    expect(await failureCode(fixture.prepare("edit", { path: "a.txt", oldText: "four", newText: "x" }))).toBe(
      "tool.no_match",
    );
    const error = await failure(
      fixture.prepare("edit", { path: "a.txt", oldText: "one\ntwo", newText: "x" }),
    );
    expect(error.code).toBe("tool.no_match");
    expect(error.message).toContain("CRLF");
  });

  it.each([
    ["a b a", "a", 2],
    ["aaa", "aa", 2],
    ["x\nx\nx\n", "x\n", 3],
  ])("says how often the passage is there: %j has %j %i times", async (content, oldText, count) => {
    await fixture.put("a.txt", content);
    const error = await failure(fixture.prepare("edit", { path: "a.txt", oldText, newText: "y" }));
    expect(error.code).toBe("tool.not_unique");
    expect(error.message).toContain(`${count} times`);
    expect(await fixture.text("a.txt")).toBe(content);
  });

  it.each([
    ["an empty oldText", { path: "a.txt", oldText: "", newText: "x" }],
    ["texts that are the same", { path: "a.txt", oldText: "x", newText: "x" }],
    ["a lone surrogate", { path: "a.txt", oldText: "x", newText: "\udfff" }],
    ["a missing text", { path: "a.txt", oldText: "x" }],
  ])("refuses %s", async (_, input) => {
    await fixture.put("a.txt", "x");
    expect(await failureCode(fixture.prepare("edit", input))).toBe("tool.invalid_input");
  });

  it("refuses binary, not UTF-8, missing and too large files", async () => {
    await fixture.put("nul", "a\0b");
    await fixture.put("latin", Buffer.from([0x61, 0xe9, 0x62]));
    await fixture.put("large", "x".repeat(10_001));
    const edit = (path: string) => failureCode(fixture.prepare("edit", { path, oldText: "a", newText: "b" }));
    expect(await edit("nul")).toBe("tool.binary_file");
    expect(await edit("latin")).toBe("tool.binary_file");
    expect(await edit("large")).toBe("tool.too_large");
    expect(await edit("missing")).toBe("tool.not_found");
    await fixture.put("grows", "a");
    const grown = fixture.prepare("edit", { path: "grows", oldText: "a", newText: "b".repeat(10_001) });
    expect(await failureCode(grown)).toBe("tool.too_large");
  });

  it("does nothing when the file has changed since the preview, even if the passage is still there", async () => {
    await fixture.put("a.txt", "safe();\nedit me\n");
    const prepared = await fixture.prepare("edit", { path: "a.txt", oldText: "edit me", newText: "edited" });
    await fixture.put("a.txt", "danger();\nedit me\n");
    expect(await failureCode(run(prepared))).toBe("tool.changed");
    expect(await fixture.text("a.txt")).toBe("danger();\nedit me\n");
  });

  it("runs once: a second run finds the file changed", async () => {
    await fixture.put("a.txt", "x");
    const prepared = await fixture.prepare("edit", { path: "a.txt", oldText: "x", newText: "xx" });
    await run(prepared);
    expect(await failureCode(run(prepared))).toBe("tool.changed");
    expect(await fixture.text("a.txt")).toBe("xx");
  });
});
