import { execFileSync } from "node:child_process";
import { truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { until } from "../../../test-kit/test-kit.ts";
import { Fixture, failure, failureCode, run } from "./support/fixture.ts";

let fixture: Fixture;
beforeEach(async () => {
  fixture = await Fixture.create();
});
afterEach(() => fixture[Symbol.asyncDispose]());
type GrepOutput = { matches: { path: string; line: number; text: string }[]; truncated?: true };

const found = async (input: object) =>
  ((await fixture.call("grep", input)) as GrepOutput).matches.map(({ path, line }) => `${path}:${line}`);

describe("grep", () => {
  it("returns lines with their path and number, in order", async () => {
    await fixture.put("b.txt", "x\nfoo 1\nfoo 2");
    await fixture.put("a/c.txt", "foo\n");
    await fixture.put("a-b/c.txt", "foo\n");
    await fixture.put("a.txt", "no\n");
    expect(await fixture.call("grep", { pattern: "fo+" })).toEqual({
      matches: [
        { path: "a-b/c.txt", line: 1, text: "foo" },
        { path: "a/c.txt", line: 1, text: "foo" },
        { path: "b.txt", line: 2, text: "foo 1" },
        { path: "b.txt", line: 3, text: "foo 2" },
      ],
    });
  });

  it("looks into hidden files, not into .git, .harness and node_modules", async () => {
    for (const file of [".hidden", ".github/x", ".git/x", ".harness/x", "node_modules/x", "a/node_modules/x"])
      await fixture.put(file, "needle\n");
    expect(await found({ pattern: "needle" })).toEqual([".github/x:1", ".hidden:1"]);
    expect(await found({ pattern: "needle", path: "node_modules" })).toEqual(["node_modules/x:1"]);
    expect(await found({ pattern: "needle", all: true })).toEqual([
      ...[".github/x:1", ".hidden:1", "a/node_modules/x:1", "node_modules/x:1"],
    ]);
  });

  it("looks into what .gitignore excludes only with all, or where the path names it", async () => {
    await fixture.put(".gitignore", "dist/\n*.log\n");
    for (const file of ["dist/a.js", "src/a.ts", "x.log"]) await fixture.put(file, "needle\n");
    expect(await found({ pattern: "needle" })).toEqual(["src/a.ts:1"]);
    expect(await found({ pattern: "needle", include: "*.log" })).toEqual([]);
    expect(await found({ pattern: "needle", include: "*.log", all: true })).toEqual(["x.log:1"]);
    expect(await found({ pattern: "needle", all: true })).toEqual(["dist/a.js:1", "src/a.ts:1", "x.log:1"]);
    expect(await found({ pattern: "needle", path: "x.log" })).toEqual(["x.log:1"]);
    expect(await found({ pattern: "needle", path: "dist" })).toEqual(["dist/a.js:1"]);
  });

  it("looks into files with secrets only where they are named", async () => {
    const secret = [
      ".env",
      ".env.local",
      ".ENV~",
      "a/prod.env",
      "a/server.pem",
      "b/.ssh/config",
      "id_rsa.bak",
      ...["#.env#", ".#.env", ".env.swp", ".env.bak", ".env.2026-11-23", "a/.prod.env.swp", ".git/config"],
    ];
    const open = [".env.example", "id_rsa.pub", "src/env.ts", "src/example.env"];
    for (const file of [...secret, ...open]) await fixture.put(file, "needle\n");
    const all = open.map((file) => `${file}:1`);
    for (const more of [{}, { path: "." }, { include: "*" }, { include: "**/*" }, { all: true }])
      expect(await found({ pattern: "needle", ...more })).toEqual(all);
    expect(await found({ pattern: "needle", include: "*v" })).toEqual(["src/example.env:1"]);
    expect(await found({ pattern: "needle", include: ".env*" })).toEqual([".env.example:1"]);
    expect(await found({ pattern: "needle", include: ".env" })).toEqual([".env:1"]);
    expect(await found({ pattern: "needle", path: ".env" })).toEqual([".env:1"]);
    expect(await found({ pattern: "needle", path: ".git" })).toEqual([]);
    expect(await found({ pattern: "needle", path: ".git/config" })).toEqual([".git/config:1"]);
    expect(await found({ pattern: "needle", path: "b/.ssh" })).toEqual(["b/.ssh/config:1"]);
    expect(await found({ pattern: "needle", include: "a/prod.env" })).toEqual(["a/prod.env:1"]);
  });

  it("searches one file or one directory", async () => {
    await fixture.put("a/x.ts", "n\nneedle\n");
    await fixture.put("a/y.ts", "needle\n");
    await fixture.put("z.ts", "needle\n");
    expect(await found({ pattern: "needle", path: "a/x.ts" })).toEqual(["a/x.ts:2"]);
    expect(await found({ pattern: "needle", path: "a/x.ts", include: "*.js" })).toEqual([]);
    expect(await found({ pattern: "needle", path: "a" })).toEqual(["a/x.ts:2", "a/y.ts:1"]);
    expect(await failureCode(fixture.call("grep", { pattern: "n", path: "missing" }))).toBe("tool.not_found");
  });

  it("takes include by name at any level, or by path with a slash", async () => {
    for (const file of ["a.ts", "s/b.ts", "s/t/c.ts", "s/d.js"]) await fixture.put(file, "needle\n");
    expect(await found({ pattern: "needle", include: "*.ts" })).toEqual(["a.ts:1", "s/b.ts:1", "s/t/c.ts:1"]);
    expect(await found({ pattern: "needle", include: "s/*.ts" })).toEqual(["s/b.ts:1"]);
    expect(await found({ pattern: "needle", path: "s", include: "t/*" })).toEqual(["s/t/c.ts:1"]);
    expect(await found({ pattern: "needle", include: "*.{js,jsx}" })).toEqual(["s/d.js:1"]);
    expect(await found({ pattern: "needle", include: "!*.ts" })).toEqual(["s/d.js:1"]);
  });

  it("matches at line ends with either line end and returns lines without them", async () => {
    await fixture.put("crlf", "foo\r\nbar foo\r\n");
    await fixture.put("lf", "foo\nfoo bar\n");
    expect(await fixture.call("grep", { pattern: "^foo$" })).toEqual({
      matches: [
        { path: "crlf", line: 1, text: "foo" },
        { path: "lf", line: 1, text: "foo" },
      ],
    });
  });

  it("passes over binary files, wherever the NUL is, and files that are too large", async () => {
    await using small = await Fixture.create({ limits: { maxGrepFileBytes: 300_000 } });
    await small.put("late.bin", Buffer.concat([Buffer.alloc(200_000, "needle\n"), Buffer.from([0])]));
    await small.put("large", "needle\n".repeat(50_000));
    await small.put("text", "needle\n");
    expect(await small.call("grep", { pattern: "needle" })).toEqual({
      matches: [{ path: "text", line: 1, text: "needle" }],
    });
  });

  it("never lets ripgrep hold a huge file without a newline", async () => {
    await using small = await Fixture.create({ limits: { searchTimeoutMs: 5000 } });
    await small.put("text", "needle\n");
    await small.put("sparse", "");
    await truncate(join(small.directory, "sparse"), 64 * 1024 ** 3);
    // 64 GiB that are not there: whoever looked at them would not be done in time.
    expect(await small.call("grep", { pattern: "needle" })).toEqual({
      matches: [{ path: "text", line: 1, text: "needle" }],
    });
  });

  it("reads UTF-16 and UTF-8 with a byte order mark, and bytes that are no UTF-8", async () => {
    await fixture.put("utf16", Buffer.from("\ufeffx\nnädle\n", "utf16le"));
    await fixture.put("utf8", "\ufeffnädle\n");
    await fixture.put("latin", Buffer.from("e\xe9 nadle\n", "latin1"));
    expect(await found({ pattern: "^n.dle" })).toEqual(["utf16:2", "utf8:1"]);
    expect(await fixture.call("grep", { pattern: "nadle" })).toEqual({
      matches: [{ path: "latin", line: 1, text: "e\ufffd nadle" }],
    });
  });

  it("cuts long lines between characters", async () => {
    await fixture.put("min.js", `needle${"😀".repeat(1_000_00)}needle\n`);
    const output = (await fixture.call("grep", { pattern: "needle" })) as GrepOutput;
    expect(output.matches).toEqual([{ path: "min.js", line: 1, text: `needle${"😀".repeat(247)}…` }]);
  });

  it("stops at the limit and says so", async () => {
    await fixture.put("a", "x\n".repeat(150));
    await fixture.put("b", "x\n".repeat(50));
    const exact = (await fixture.call("grep", { pattern: "x" })) as GrepOutput;
    expect(exact.matches).toHaveLength(200);
    expect(exact).not.toHaveProperty("truncated");
    await fixture.put("c", "x\n".repeat(10_000));
    const output = (await fixture.call("grep", { pattern: "x" })) as GrepOutput;
    expect(output).toEqual({ ...exact, truncated: true });
  });

  it("takes names that look like options, NULs or records", async () => {
    for (const name of ["-", "--files", "a\nb", "a:1:b", "sp ace", "ü", "-e"])
      await fixture.put(name, "needle\n");
    expect(await found({ pattern: "needle" })).toEqual(
      ["-", "--files", "-e", "a\nb", "a:1:b", "sp ace", "ü"].map((name) => `${name}:1`),
    );
  });

  it("takes patterns that look like options", async () => {
    await fixture.put("a", "--files\n-e\n");
    expect(await found({ pattern: "--files" })).toEqual(["a:1"]);
    expect(await found({ pattern: "-e" })).toEqual(["a:2"]);
  });

  it("follows no links", async () => {
    await writeFile(join(fixture.outside, "secret.txt"), "needle\n");
    await fixture.link("dir", fixture.outside);
    await fixture.link("file", join(fixture.outside, "secret.txt"));
    await fixture.put("real", "needle\n");
    await fixture.link("inside", "real");
    expect(await found({ pattern: "needle" })).toEqual(["real:1"]);
    expect(await failureCode(fixture.prepare("grep", { pattern: "n", path: "dir" }))).toBe(
      "tool.outside_workspace",
    );
    expect(await failureCode(fixture.prepare("grep", { pattern: "n", path: "file" }))).toBe(
      "tool.outside_workspace",
    );
    expect((await fixture.prepare("grep", { pattern: "n", path: "inside" })).input).toEqual({
      pattern: "n",
      path: "real",
    });
  });

  it("does not hang on a FIFO", async () => {
    execFileSync("mkfifo", [fixture.path("fifo")]);
    await fixture.put("a", "needle\n");
    expect(await found({ pattern: "needle" })).toEqual(["a:1"]);
    expect(await failureCode(fixture.call("grep", { pattern: "n", path: "fifo" }))).toBe(
      "tool.not_a_directory",
    );
  });

  it.each([
    ["(", "unclosed group"],
    [")", "unopened group"],
    ["[a", "unclosed character class"],
    ["*a", "repetition operator missing expression"],
    ["a{3,2}", "invalid repetition count range"],
    ["(?=a)", "look-around"],
    ["(a)\\1", "backreferences are not supported"],
    ["\\", "unclosed group"],
    ["\\p{Nothing}", "Unicode property not found"],
    ["a\\nb", "not allowed"],
    ["a\nb", "not allowed"],
    ["a\0b", "NUL"],
    ["(?:(?:\\w{100}){100}){100}", "size limit"],
    [`${"(".repeat(300)}a${")".repeat(300)}`, "nest"],
  ])("refuses the pattern %j with the reason of ripgrep", async (pattern, reason) => {
    const { code, message } = await failure(fixture.prepare("grep", { pattern }));
    expect({ code, message }).toEqual({
      code: "tool.invalid_input",
      message: expect.stringContaining(reason),
    });
    expect(message).toMatch(/^the search pattern is not a valid regular expression .*$/);
  });

  it("stops when the turn is cancelled, before and during the search", async () => {
    await fixture.put("a", `${"a".repeat(60)}!\n`);
    const prepared = await fixture.prepare("grep", { pattern: "^(a|a|aa)+$" });
    expect(await failureCode(run(prepared, { signal: AbortSignal.abort() }))).toBe("tool.canceled");
    const controller = new AbortController();
    let settled = false;
    const call = run(prepared, { signal: controller.signal }).then(
      () => "done",
      (error: { code: string }) => error.code,
    );
    void call.finally(() => {
      settled = true;
    });
    controller.abort();
    await until(() => settled);
    expect(await call).toBe("tool.canceled");
  });

  it("makes the input canonical", async () => {
    await fixture.put("a/b", "");
    const input = { pattern: " x ", path: `${fixture.directory}/a/../a/b`, include: "./*.ts" };
    expect((await fixture.prepare("grep", input)).input).toEqual({
      pattern: " x ",
      path: "a/b",
      include: "*.ts",
    });
    expect((await fixture.prepare("grep", { pattern: "x", path: "./" })).input).toEqual({ pattern: "x" });
  });
});
