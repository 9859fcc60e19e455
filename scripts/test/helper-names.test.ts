import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { root } from "./support.ts";

type Names = { add(packagePath: string, place: string, text: string): void; problems(): string[] };
const { HelperNames }: { HelperNames: new () => Names } = await import(
  pathToFileURL(join(root, "scripts/lib/helper-names.mjs")).href
);

const problemsOf = (files: Readonly<Record<string, string>>): string[] => {
  const helpers = new HelperNames();
  for (const [place, text] of Object.entries(files)) {
    helpers.add(place.split("/").slice(0, 2).join("/"), place, text);
  }
  return helpers.problems();
};

const three = (name: string) => ({
  "packages/a/src/one.ts": `export const ${name} = (text: string): string =>\n  text;\n`,
  "packages/b/src/two.ts": `async function* ${name}() {}\n`,
  "packages/c/src/three.tsx": `export class ${name} {}\n`,
});

describe("names of helpers", () => {
  it("are reported with their files if three packages define them", () => {
    expect(problemsOf(three("textOf"))).toEqual([
      "textOf is defined in 3 packages: packages/a/src/one.ts, packages/b/src/two.ts, packages/c/src/three.tsx: give the same thing one home, and different things names that say which",
    ]);
  });

  it.each([
    ["if two packages define them", { "packages/c/src/three.tsx": "export const a = 1;\n" }],
    [
      "if one of two packages defines them twice",
      { "packages/c/src/three.tsx": "", "packages/a/src/four.ts": "const textOf = () => 1;\n" },
    ],
    ["if they are values", { "packages/c/src/three.tsx": "export const textOf = 1;\n" }],
    [
      "within other functions",
      { "packages/c/src/three.tsx": "export const b = () => { const textOf = () => 1; return textOf; };\n" },
    ],
  ])("are not reported %s", (_when, files) => {
    expect(problemsOf({ ...three("textOf"), ...files })).toEqual([]);
  });

  it.each(["App", "end", "run", "say", "serve", "start"])("may be the verb %s everywhere", (name) => {
    expect(problemsOf(three(name))).toEqual([]);
  });
});
