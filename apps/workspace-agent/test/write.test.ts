import { execFileSync } from "node:child_process";
import { chmod, link, mkdir, readdir, readFile, stat, symlink } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Fixture, failure, failureCode, run } from "./support/fixture.ts";

let fixture: Fixture;
beforeEach(async () => {
  fixture = await Fixture.create({ limits: { maxWriteBytes: 1000 } });
});
afterEach(() => fixture[Symbol.asyncDispose]());

describe("write", () => {
  it("creates a file with its directories and shows it first", async () => {
    const prepared = await fixture.prepare("write", { path: "new/dir/a.txt", content: "one\ntwo" });
    expect(prepared.preview).toBe(
      "--- /dev/null\n+++ b/new/dir/a.txt\n@@ -0,0 +1,2 @@\n+one\n+two\n\\ No newline at end of file\n",
    );
    expect(await fixture.listing()).toEqual({});
    expect(await run(prepared)).toEqual({ path: "new/dir/a.txt", bytes: 7, created: true });
    expect(await fixture.text("new/dir/a.txt")).toBe("one\ntwo");
    expect(await readdir(fixture.path("new/dir"))).toEqual(["a.txt"]);
  });

  it("replaces a file, keeps its mode and shows the difference first", async () => {
    await fixture.put("run.sh", "echo 1\necho 2\n");
    await chmod(fixture.path("run.sh"), 0o751);
    const prepared = await fixture.prepare("write", { path: "run.sh", content: "echo 1\necho €\n" });
    expect(prepared.preview).toBe("--- a/run.sh\n+++ b/run.sh\n@@ -1,2 +1,2 @@\n echo 1\n-echo 2\n+echo €\n");
    expect(await run(prepared)).toEqual({ path: "run.sh", bytes: 16, created: false });
    expect(await fixture.text("run.sh")).toBe("echo 1\necho €\n");
    expect((await stat(fixture.path("run.sh"))).mode & 0o777).toBe(0o751);
    expect(await readdir(fixture.directory)).toEqual(["run.sh"]);
  });

  it("says in the preview that a binary or a large file is replaced", async () => {
    await fixture.put("a.bin", Buffer.from([1, 0, 2]));
    await fixture.put("large", "x".repeat(1001));
    const binary = await fixture.prepare("write", { path: "a.bin", content: "t\n" });
    expect(binary.preview).toContain("[a.bin is a binary file of 3 bytes: all of it is replaced]\n");
    const large = await fixture.prepare("write", { path: "large", content: "t\n" });
    expect(large.preview).toContain("[large is a large file of 1001 bytes: all of it is replaced]\n");
    expect(await run(large)).toEqual({ path: "large", bytes: 2, created: false });
    expect(await fixture.text("large")).toBe("t\n");
  });

  it("cuts a long preview and says so", async () => {
    await using small = await Fixture.create({ limits: { maxPreviewLength: 200 } });
    const content = Array.from({ length: 500 }, (_, index) => `${index}\n`).join("");
    const { preview = "" } = await small.prepare("write", { path: "a", content });
    expect(preview.length).toBeLessThan(300);
    expect(preview).toMatch(/\n\[the diff is cut here: \d+ of \d+ characters are not shown\]\n/);
    // What is added often comes last, so the end is kept, too.
    expect(preview).toMatch(/\n\+499\n$/);
    const oneLine = await small.prepare("write", { path: "b", content: "x".repeat(5000) });
    expect(oneLine.preview?.length).toBeLessThan(300);
    expect(oneLine.preview).toContain("the diff is cut here");
  });

  it("keeps a name that would forge lines of the diff on one line", async () => {
    const { preview = "" } = await fixture.prepare("write", { path: "a\n+++ b/b\u202e", content: "x\n" });
    expect(preview.split("\n")).toHaveLength(5);
    expect(preview).toContain("\\u{202e}");
  });

  it.each([
    "content that changed",
    "a file that appeared",
    "a file that is gone",
    "a link in its place",
    "a directory in its place",
  ])("does nothing when there is %s since the preview", async (what) => {
    const appears = what === "a file that appeared";
    if (!appears) await fixture.put("dir/a.txt", "old\n");
    const prepared = await fixture.prepare("write", { path: "dir/a.txt", content: "new\n" });
    if (what === "content that changed" || appears) await fixture.put("dir/a.txt", "other\n");
    else execFileSync("rm", [fixture.path("dir/a.txt")]);
    if (what === "a link in its place") await fixture.link("dir/a.txt", join(fixture.outside, "secret.txt"));
    if (what === "a directory in its place") await mkdir(fixture.path("dir/a.txt"));
    const before = await fixture.listing();
    const code = await failureCode(run(prepared));
    const expected: Record<string, string> = {
      "a link in its place": "tool.outside_workspace",
      "a directory in its place": "tool.not_a_file",
    };
    expect(code).toBe(expected[what] ?? "tool.changed");
    expect(await fixture.listing()).toEqual(before);
    expect(await readFile(join(fixture.outside, "secret.txt"), "utf8")).toBe("secret\n");
  });

  it("does not change the outside file that a hard link shares", async () => {
    await link(join(fixture.outside, "secret.txt"), fixture.path("hard.txt"));
    await fixture.call("write", { path: "hard.txt", content: "mine\n" });
    expect(await readFile(join(fixture.outside, "secret.txt"), "utf8")).toBe("secret\n");
    expect(await fixture.text("hard.txt")).toBe("mine\n");
  });

  it("writes through a link inside the workspace, under the name of its target", async () => {
    await fixture.put("real/a.txt", "old\n");
    await symlink("real", fixture.path("alias"));
    const prepared = await fixture.prepare("write", { path: "alias/a.txt", content: "new\n" });
    expect(prepared.input).toEqual({ path: "real/a.txt", content: "new\n" });
    await run(prepared);
    expect(await fixture.text("real/a.txt")).toBe("new\n");
  });

  it.each([
    ".git/config",
    ".harness/threads/x",
    ".git",
    "sub/.git/hooks/pre-commit",
    ".GIT/config",
    ".Harness/x",
    ".git./config",
    ".git /config",
    ".g\u200cit/config",
    "GIT~1/config",
    "x/../.git/config",
  ])("does not write %j", async (path) => {
    expect(await failureCode(fixture.prepare("write", { path, content: "x" }))).toBe("tool.protected_path");
    expect(await failureCode(fixture.prepare("edit", { path, oldText: "a", newText: "b" }))).toBe(
      "tool.protected_path",
    );
  });

  it("does not write into .git over a link", async () => {
    await fixture.put(".git/config", "x");
    await fixture.link("innocent", ".git");
    expect(await failureCode(fixture.prepare("write", { path: "innocent/config", content: "y" }))).toBe(
      "tool.protected_path",
    );
  });

  it.each([".gitignore", ".github/workflows/ci.yml", "git/x", "harness"])("writes %j", async (path) => {
    expect(await fixture.call("write", { path, content: "x" })).toMatchObject({ path, created: true });
  });

  it("refuses what is no file and what is below a file", async () => {
    await fixture.put("file", "x");
    execFileSync("mkfifo", [fixture.path("fifo")]);
    expect(await failureCode(fixture.prepare("write", { path: ".", content: "" }))).toBe("tool.not_a_file");
    expect(await failureCode(fixture.prepare("write", { path: "fifo", content: "" }))).toBe(
      "tool.not_a_file",
    );
    expect(await failureCode(fixture.call("write", { path: "file/child", content: "" }))).toBe(
      "tool.not_a_file",
    );
    expect(await fixture.text("file")).toBe("x");
  });

  it("refuses too much content and text that UTF-8 cannot hold", async () => {
    expect(await failureCode(fixture.prepare("write", { path: "a", content: "€".repeat(334) }))).toBe(
      "tool.invalid_input",
    );
    expect(await failureCode(fixture.prepare("write", { path: "a", content: "\ud800" }))).toBe(
      "tool.invalid_input",
    );
  });

  it("lets readers see the old content or the new one, never a part", async () => {
    await using large = await Fixture.create();
    const contents = ["a".repeat(500_000), "b".repeat(500_000)];
    await large.put("f", contents[0] ?? "");
    let writing = true;
    const seen = new Set<string>();
    const reader = (async () => {
      while (writing) seen.add(await large.text("f"));
    })();
    for (let index = 1; index <= 6; index++) {
      await large.call("write", { path: "f", content: contents[index % 2] ?? "" });
    }
    writing = false;
    await reader;
    expect([...seen].every((text) => contents.includes(text))).toBe(true);
  });

  it("does not let one of two writers overwrite what it has not seen", async () => {
    await fixture.put("a", "0");
    const calls = await Promise.all(
      ["1", "2"].map((content) => fixture.prepare("write", { path: "a", content })),
    );
    const [first, second] = calls;
    if (first === undefined || second === undefined) throw new TypeError("two calls were prepared");
    await run(first);
    const error = await failure(run(second));
    expect(error.code).toBe("tool.changed");
    expect(await fixture.text("a")).toBe("1");
  });
});
