import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { root } from "./support.ts";

type Fence = { language: string; flags: string[]; code: string; line: number; runs: boolean };
type Fences = {
  fencesOf(markdown: string): Fence[];
  docFencesOf(text: string): Fence[];
  typescriptFences(fences: Fence[]): Fence[];
};
const { fencesOf, docFencesOf, typescriptFences }: Fences = await import(
  pathToFileURL(join(root, "scripts/lib/fences.mjs")).href
);

describe("code fences", () => {
  it("are found with their language, flags, lines and indentation", () => {
    const markdown = [
      "# Title",
      "```ts",
      "const a = 1;",
      "```",
      "- in a list",
      "  ```ts no-run",
      "  if (a) {",
      "    b();",
      "  }",
      "  ```",
      "````md",
      "```ts",
      "not code",
      "```",
      "````",
      "```sh",
      "npm test",
      "```",
    ].join("\n");
    expect(fencesOf(markdown).map(({ language, line }) => [language, line])).toEqual([
      ["ts", 3],
      ["ts", 7],
      ["md", 12],
      ["sh", 17],
    ]);
    expect(typescriptFences(fencesOf(markdown)).map(({ code, runs }) => [code, runs])).toEqual([
      ["const a = 1;\n", true],
      ["if (a) {\n  b();\n}\n", false],
    ]);
  });

  it("leaves out a fence that is never closed", () => {
    expect(fencesOf("```ts\nconst a = 1;\n")).toEqual([]);
  });

  it("are found in doc comments, with the file's lines", () => {
    const text = [
      "const x = 1;",
      "/**",
      " * Adds.",
      " *",
      " * @example",
      " * ```ts",
      " * add(1, 2); /* three *\\/",
      " * ```",
      " */",
      "export const add = 1;",
      "/* ```ts",
      "   not a doc comment",
      "   ``` */",
    ].join("\n");
    expect(typescriptFences(docFencesOf(text))).toEqual([
      { language: "ts", flags: [], code: "add(1, 2); /* three */\n", line: 7, runs: true },
    ]);
  });
});
