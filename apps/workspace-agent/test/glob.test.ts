import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Fixture, failureCode } from "./support/fixture.ts";

let fixture: Fixture;
beforeEach(async () => {
  fixture = await Fixture.create();
  const files = [
    "b.ts",
    "a.ts",
    "a/z.ts",
    "a-b/x.ts",
    "a/deep/y.js",
    ".hidden/c.ts",
    "a[1].txt",
    "node_modules/m/index.ts",
    ".git/config",
    ".harness/log",
    "sub/node_modules/n.ts",
  ];
  for (const file of files) await fixture.put(file, "");
});
afterEach(() => fixture[Symbol.asyncDispose]());

const all = [".hidden/c.ts", "a-b/x.ts", "a.ts", "a/deep/y.js", "a/z.ts", "a[1].txt", "b.ts"];

describe("glob", () => {
  it.each([
    ["**/*", all],
    ["*", ["a.ts", "a[1].txt", "b.ts"]],
    ["*.ts", ["a.ts", "b.ts"]],
    ["./*.ts", ["a.ts", "b.ts"]],
    ["**/*.ts", [".hidden/c.ts", "a-b/x.ts", "a.ts", "a/z.ts", "b.ts"]],
    ["a/**", ["a/deep/y.js", "a/z.ts"]],
    ["{a,b}.ts", ["a.ts", "b.ts"]],
    ["[ab].ts", ["a.ts", "b.ts"]],
    ["a[1].txt", ["a[1].txt"]],
    ["!**/*.ts", ["a/deep/y.js", "a[1].txt"]],
    ["nothing", []],
    ["a", []],
  ])("finds %j", async (pattern, paths) => {
    expect(await fixture.call("glob", { pattern })).toEqual({ paths });
    expect(paths).toEqual([...paths].sort());
  });

  it("searches from a directory, relative to it, and returns paths of the workspace", async () => {
    expect(await fixture.call("glob", { pattern: "*", path: "a" })).toEqual({ paths: ["a/z.ts"] });
    expect(await fixture.call("glob", { pattern: "**/*.ts", path: "sub/node_modules" })).toEqual({
      paths: ["sub/node_modules/n.ts"],
    });
  });

  it("makes the input canonical", async () => {
    const inputs = [
      { pattern: "./x", path: "a/../." },
      { pattern: "x", path: fixture.directory },
    ];
    for (const input of inputs)
      expect((await fixture.prepare("glob", input)).input).toEqual({ pattern: "x" });
    expect((await fixture.prepare("glob", { pattern: "x", path: "./a//deep/" })).input).toEqual({
      pattern: "x",
      path: "a/deep",
    });
  });

  it("neither follows nor lists links", async () => {
    await fixture.link("out", fixture.outside);
    await fixture.link("file", `${fixture.outside}/secret.txt`);
    await fixture.link("loop", ".");
    expect(await fixture.call("glob", { pattern: "**/*" })).toEqual({ paths: all });
    expect(await failureCode(fixture.prepare("glob", { pattern: "**/*", path: "out" }))).toBe(
      "tool.outside_workspace",
    );
  });

  it("stops at the limit and says so", async () => {
    await using small = await Fixture.create({ limits: { maxGlobPaths: 3 } });
    for (const name of ["d", "c", "b/x", "a"]) await small.put(name, "");
    expect(await small.call("glob", { pattern: "**/*" })).toEqual({
      paths: ["a", "b/x", "c"],
      truncated: true,
    });
    expect(await small.call("glob", { pattern: "*" })).toEqual({ paths: ["a", "c", "d"] });
  });

  it("stops after so many files and says so", async () => {
    await using small = await Fixture.create({ limits: { maxSearchedFiles: 5 } });
    for (let index = 0; index < 20; index++) await small.put(`f${index}`, "");
    const output = (await small.call("glob", { pattern: "*" })) as { paths: string[] };
    expect(output).toHaveProperty("truncated", true);
    expect(output.paths).toHaveLength(5);
  });

  it("refuses a start that is missing or no directory", async () => {
    expect(await failureCode(fixture.call("glob", { pattern: "*", path: "missing" }))).toBe("tool.not_found");
    expect(await failureCode(fixture.call("glob", { pattern: "*", path: "a.ts" }))).toBe(
      "tool.not_a_directory",
    );
  });

  it.each([
    ["", "tool.invalid_input"],
    ["./", "tool.invalid_input"],
    ["/etc/*", "tool.invalid_input"],
    ["x".repeat(1001), "tool.invalid_input"],
    ["../*", "tool.outside_workspace"],
    ["a/../../*", "tool.outside_workspace"],
  ])("refuses the pattern %j", async (pattern, code) => {
    expect(await failureCode(fixture.prepare("glob", { pattern }))).toBe(code);
  });

  it("does not hang on a pathological pattern", async () => {
    await using slow = await Fixture.create({ limits: { searchTimeoutMs: 300 } });
    await slow.put("a".repeat(250), "");
    const started = performance.now();
    expect(await failureCode(slow.call("glob", { pattern: `${"*a".repeat(30)}*b` }))).toBe("tool.timeout");
    expect(performance.now() - started).toBeLessThan(5000);
  });

  it.each(["[", "(((", "a{1..1000000000}", "**/**/**/**/x", "@(a|b)", "{}"])(
    "takes the odd %j",
    async (pattern) => {
      expect(await fixture.call("glob", { pattern })).toHaveProperty("paths");
    },
  );

  it.each(["{a,b", "\\"])("refuses %j, which cannot be compiled", async (pattern) => {
    expect(await failureCode(fixture.prepare("glob", { pattern }))).toBe("tool.invalid_input");
  });
});
