import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { mentionedFiles } from "../src/mentioned-files.ts";
import { makeWorkspace } from "./support/harness.ts";

describe("files that a prompt names with @", () => {
  it("are found in the workspace, and what looks like one that is not there is named", async () => {
    const cwd = await makeWorkspace();
    await mkdir(join(cwd, "src"));
    await writeFile(join(cwd, "src/add.js"), "");
    const prompt = "compare @src/add.js, @typo.js. and @src/none.ts for @anna of @scope/package";
    expect(await mentionedFiles(prompt, cwd)).toEqual({
      files: ["src/add.js"],
      missing: ["typo.js", "src/none.ts"],
    });
  });
});
