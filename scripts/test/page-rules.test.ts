import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, it } from "vitest";
import { temporaryDirectory } from "../lib/test-kit.ts";
import { root } from "./support.ts";

const { pageProblems }: { pageProblems(path: string, installed: string): string[] } = await import(
  pathToFileURL(join(root, "scripts/lib/packages/page-rules.mjs")).href
);

const script = '<script type="module" src="./assets/a.js"></script>';

it("demands the page's files from the package that ships it, and nothing inline or from elsewhere", async () => {
  await using directory = await temporaryDirectory();
  const problems = async (html: string) => {
    await writeFile(join(directory.path, "page/index.html"), html);
    return pageProblems("packages/hub", directory.path);
  };
  expect(pageProblems("packages/wire", directory.path)).toEqual([]);
  expect(pageProblems("packages/hub", directory.path)).toEqual([
    "does not pack page/index.html: build the page (npm run build)",
  ]);
  await mkdir(join(directory.path, "page/assets"), { recursive: true });
  expect(await problems(script)).toEqual(["does not pack page/assets/a.js"]);
  await writeFile(join(directory.path, "page/assets/a.js"), "");
  expect(await problems(script)).toEqual([]);
  expect(await problems("<p>Hub</p>")).toEqual(["page/index.html loads no script"]);
  expect(await problems(`${script}<link href="https://cdn.example/a.css">`)).toEqual([
    "page/index.html loads https://cdn.example/a.css, which is not in the package",
  ]);
  expect(await problems(`${script}<script>alert(1)</script>`)).toEqual([
    "page/index.html has an inline script or style",
  ]);
});
