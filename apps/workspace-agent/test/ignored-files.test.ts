import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Fixture } from "./support/fixture.ts";

let fixture: Fixture;
beforeEach(async () => {
  fixture = await Fixture.create();
});
afterEach(() => fixture[Symbol.asyncDispose]());

const put = async (...paths: string[]) => {
  for (const path of paths) await fixture.put(path, "");
};
const listed = async (input: object = {}) =>
  ((await fixture.call("glob", { pattern: "**/*", ...input })) as { paths: string[] }).paths;

describe("files that git ignores", () => {
  it("are left out without all", async () => {
    await fixture.put(".gitignore", "dist/\n*.log\n!keep.log\n/top.ts\n");
    await put("dist/a.js", "src/dist/b.js", "src/x.log", "src/keep.log", "src/top.ts", "top.ts");
    const shown = [".gitignore", "src/keep.log", "src/top.ts"];
    expect(await listed()).toEqual(shown);
    expect(await listed({ all: false })).toEqual(shown);
    expect(await listed({ all: true })).toEqual([
      ...[".gitignore", "dist/a.js", "src/dist/b.js", "src/keep.log", "src/top.ts", "src/x.log", "top.ts"],
    ]);
  });

  it("are left out by the rules of each directory, the nearest last, also where the search starts below", async () => {
    await fixture.put(".gitignore", "*.log\n");
    await fixture.put("a/.gitignore", "!a.log\n/gen\n");
    await put("a/a.log", "a/b.log", "a/gen/x", "a/b/gen/y", "gen/z", ".git/HEAD");
    const inA = ["a/.gitignore", "a/a.log", "a/b/gen/y"];
    expect(await listed()).toEqual([".gitignore", ...inA, "gen/z"]);
    expect(await listed({ path: "a" })).toEqual(inA);
  });

  it("are left out by the rules above the workspace up to the root of its repository, and by none without one", async () => {
    await fixture.put("../.gitignore", "*\n");
    await put("a.log", "b/c.log");
    expect(await listed()).toEqual(["a.log", "b/c.log"]);
    expect(await listed({ path: "b" })).toEqual(["b/c.log"]);
    await fixture.put("../.gitignore", "*.log\n");
    await fixture.put("../.git/HEAD", "");
    await put("b/c");
    expect(await listed()).toEqual(["b/c"]);
    expect(await listed({ path: "b" })).toEqual(["b/c"]);
  });

  it("are left out by the rules of the clone, those of a linked work tree's repository included", async () => {
    await fixture.put(".git/info/exclude", "local\n");
    await put("local", "a/local", "b");
    expect(await listed()).toEqual(["b"]);
    const main = "../main/.git";
    const linked = `${main}/worktrees/linked`;
    await fixture.put(`${main}/HEAD`, "ref: refs/heads/main\n");
    await fixture.put(`${main}/info/exclude`, "local\n");
    await fixture.put(`${linked}/commondir`, "../..\n");
    await fixture.put(`${linked}/gitdir`, `${fixture.path("linked/.git")}\n`);
    await fixture.put("linked/.git", `gitdir: ${fixture.path(linked)}\n`);
    await put("linked/local", "linked/b");
    expect(await listed({ path: "linked" })).toEqual(["linked/b"]);
  });

  it("are not those of the user's own settings, nor of other programs", async () => {
    const home = fixture.outside;
    await writeFile(join(home, ".gitconfig"), `[core]\n  excludesFile = ${home}/ignored\n`);
    await writeFile(join(home, "ignored"), "*.ts\n");
    await fixture.put(".ignore", "*.ts\n");
    await fixture.put(".rgignore", "*.ts\n");
    await put(".git/HEAD", "a.ts");
    const { HOME, XDG_CONFIG_HOME } = process.env;
    process.env.HOME = home;
    process.env.XDG_CONFIG_HOME = home;
    try {
      expect(await listed({ pattern: "*.ts" })).toEqual(["a.ts"]);
    } finally {
      process.env.HOME = HOME;
      if (XDG_CONFIG_HOME === undefined) delete process.env.XDG_CONFIG_HOME;
      else process.env.XDG_CONFIG_HOME = XDG_CONFIG_HOME;
    }
  });

  it("are listed where the path names an ignored directory", async () => {
    await fixture.put(".gitignore", "dist/\nbuild\n");
    await put("dist/a/b.js", "build/c.js");
    expect(await listed({ path: "dist" })).toEqual(["dist/a/b.js"]);
    expect(await listed({ path: "dist/a" })).toEqual(["dist/a/b.js"]);
    expect(await listed({ path: "build" })).toEqual(["build/c.js"]);
  });

  it("include node_modules without a rule; .git and .harness are never searched from above", async () => {
    await put("node_modules/m/a.ts", "a/.git/config", ".git/config", ".harness/log", ".hidden/a.ts");
    expect(await listed()).toEqual([".hidden/a.ts"]);
    expect(await listed({ all: true })).toEqual([".hidden/a.ts", "node_modules/m/a.ts"]);
    expect(await listed({ path: ".git" })).toEqual([".git/config"]);
    // A work tree and a submodule have a file of that name.
    await put("sub/.git", "sub/a");
    expect(await listed({ path: "sub", all: true })).toEqual(["sub/a"]);
  });

  it("are the same for every spelling of the call", async () => {
    expect((await fixture.prepare("glob", { pattern: "*", all: false })).input).toEqual({ pattern: "*" });
    expect((await fixture.prepare("glob", { pattern: "*", all: true })).input).toEqual({
      pattern: "*",
      all: true,
    });
    expect((await fixture.prepare("grep", { pattern: "x", all: false })).input).toEqual({ pattern: "x" });
  });
});
