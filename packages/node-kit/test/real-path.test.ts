import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { realPathOf } from "../src/index.ts";

const tree = (): string => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "real-path-")));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  mkdirSync(join(root, "work/src"), { recursive: true });
  mkdirSync(join(root, "other/deep"), { recursive: true });
  writeFileSync(join(root, "work/src/a.txt"), "a");
  return root;
};

it("follows links to files, to directories, through `..` behind them and to what does not exist yet", () => {
  const root = tree();
  const other = join(root, "other");
  symlinkSync(other, join(root, "work/out"));
  symlinkSync("../other/deep", join(root, "work/deep"));
  symlinkSync("../other/new.txt", join(root, "work/dangling"));
  symlinkSync("dangling", join(root, "work/twice"));
  const at = (path: string) => realPathOf(join(root, "work") + path);
  expect(at("/src/a.txt")).toBe(join(root, "work/src/a.txt"));
  expect(at("/src/./new//b.txt")).toBe(join(root, "work/src/new/b.txt"));
  expect(at("/out/c.txt")).toBe(join(other, "c.txt"));
  expect(at("/deep/../c.txt")).toBe(join(other, "c.txt"));
  expect(at("/dangling")).toBe(join(other, "new.txt"));
  expect(at("/twice")).toBe(join(other, "new.txt"));
  expect(at("/src/a.txt/below")).toBe(join(root, "work/src/a.txt/below"));
  expect(realPathOf("/../..")).toBe("/");
});

it("cannot tell where a loop of links leads, nor a path with a zero byte", () => {
  const root = tree();
  symlinkSync("two", join(root, "one"));
  symlinkSync("one", join(root, "two"));
  expect(realPathOf(join(root, "one/x"))).toBeUndefined();
  expect(realPathOf(`${root}/a\0b`)).toBeUndefined();
});
