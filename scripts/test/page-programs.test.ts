import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { root } from "./support.ts";

interface PagePrograms {
  pagePrograms(markdown: string): {
    files: { name: string; code: string; line: number; isProgram: boolean }[];
    commands: { bin?: string; args: string[]; line: number; exitCode?: number }[];
  };
}

const { pagePrograms }: PagePrograms = await import(
  pathToFileURL(join(root, "scripts/lib/page-programs.mjs")).href
);

const fence = (info: string, ...lines: string[]) => ["```".concat(info), ...lines, "```"].join("\n");

describe("the programs of a page", () => {
  it("are its fences with a name", () => {
    const page = [fence("js [a.mjs]", "run();"), fence("json [b.json]", "{}"), fence("js", "no()")].join(
      "\n",
    );
    expect(pagePrograms(page).files.map(({ name, isProgram }) => [name, isProgram])).toEqual([
      ["a.mjs", true],
      ["b.json", false],
    ]);
  });

  it("are started by the lines of shell fences that start node or a command of ours", () => {
    const page = fence(
      "sh",
      "npm install x",
      'node a.mjs "two words" three',
      "npx harness core --input '{\"a\":1}'",
      "npx other",
    );
    expect(pagePrograms(page).commands).toEqual([
      { line: 3, args: ["a.mjs", "two words", "three"] },
      { line: 4, bin: "harness", args: ["core", "--input", '{"a":1}'] },
    ]);
  });

  it("may have a comment, which may name the exit code", () => {
    const page = fence("sh", "node a.mjs x#1 # calm", "npx harness check a.json   # blocked: exit code 3");
    expect(pagePrograms(page).commands).toEqual([
      { line: 2, args: ["a.mjs", "x#1"] },
      { line: 3, bin: "harness", args: ["check", "a.json"], exitCode: 3 },
    ]);
  });

  it("are not started by a shell fence marked no-run", () => {
    expect(pagePrograms(fence("sh no-run", "node a.mjs")).commands).toEqual([]);
  });
});
