import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { previewForeignEdit } from "../src/edit-preview.ts";
import { Fixture } from "./support/fixture.ts";

const lines = Array.from({ length: 40 }, (_, index) => `line ${index + 1}\n`).join("");

describe("the preview of another program's edit", () => {
  let fixture: Fixture;
  beforeEach(async () => {
    fixture = await Fixture.create();
    await fixture.put("src/a.txt", lines);
  });
  afterEach(() => fixture[Symbol.asyncDispose]());

  const preview = (given: object, cwd?: string) =>
    previewForeignEdit({ arguments: given, workspace: fixture.directory, cwd });
  const patch = (...body: string[]) => ["*** Begin Patch", ...body, "*** End Patch", ""].join("\n");
  const diffOfLine20 =
    "--- a/src/a.txt\n+++ b/src/a.txt\n@@ -17,7 +17,7 @@\n line 17\n line 18\n line 19\n-line 20\n+line twenty\n line 21\n line 22\n line 23\n";

  it.each([
    ["Claude Code", { file_path: "src/a.txt", old_string: "line 20\n", new_string: "line twenty\n" }],
    ["Copilot CLI", { path: "src/a.txt", old_str: "line 20", new_str: "line twenty" }],
    ["opencode", { filePath: "src/a.txt", oldString: "line 20", newString: "line twenty" }],
    ["an ACP agent", { path: "src/a.txt", old_text: lines, new_text: lines.replace("20", "twenty") }],
    ["a write", { path: "src/a.txt", content: lines.replace("20", "twenty") }],
    ["several edits", { path: "src/a.txt", edits: [{ old_string: "line 20", new_string: "line twenty" }] }],
    [
      "Codex",
      { command: patch("*** Update File: src/a.txt", "@@ line 18", " line 19", "-line 20", "+line twenty") },
    ],
    [
      "a patch without a place",
      { patchText: patch("*** Update File: src/a.txt", "-line 20", "+line twenty") },
    ],
  ])("has the file's lines and their numbers, as %s writes it", async (_, given) => {
    expect(await preview(given)).toBe(diffOfLine20);
  });

  it("takes absolute paths, and relative ones from where the agent is", async () => {
    const edit = { old_string: "line 20\n", new_string: "line twenty\n" };
    expect(await preview({ file_path: join(fixture.directory, "src/a.txt"), ...edit })).toBe(diffOfLine20);
    expect(await preview({ file_path: "a.txt", ...edit }, join(fixture.directory, "src"))).toBe(diffOfLine20);
  });

  it("replaces each passage where the edit says so, and keeps the ends of lines", async () => {
    await fixture.put("b.txt", "a\r\nb\r\na\r\n");
    const each = await preview({
      file_path: "b.txt",
      old_string: "a\n",
      new_string: "c\n",
      replace_all: true,
    });
    expect(each).toContain("-a\r\n+c\r\n b\r\n-a\r\n+c\r\n");
    expect(await preview({ file_path: "b.txt", old_string: "a", new_string: "c" })).toBe(
      "[no diff is shown: b.txt contains what the edit replaces 2 times]",
    );
  });

  it("is that of each file of a patch, one behind the other", async () => {
    const all = await preview({
      command: patch(
        "*** Add File: new.txt",
        "+hello",
        "*** Update File: src/a.txt",
        "*** Move to: src/b.txt",
        "@@",
        "-line 1",
        "+first",
        " line 2",
        "@@",
        " line 40",
        "+line 41",
        "*** End of File",
      ),
    });
    expect(all).toMatch(/^--- \/dev\/null\n\+\+\+ b\/new\.txt\n@@ -0,0 \+1,1 @@\n\+hello\n/);
    expect(all).toContain("--- a/src/a.txt\n+++ /dev/null\n");
    expect(all).toMatch(/\+\+\+ b\/src\/b\.txt\n@@ -0,0 \+1,41 @@\n\+first\n\+line 2\n/);
    expect(all).toMatch(/\+line 40\n\+line 41\n$/);
    const gone = await preview({ command: patch("*** Delete File: src/a.txt") });
    expect(gone).toMatch(/^--- a\/src\/a\.txt\n\+\+\+ \/dev\/null\n@@ -1,40 \+0,0 @@\n-line 1\n/);
  });

  it("makes a new file of an edit of nothing", async () => {
    const fresh = await preview({ file_path: "new.txt", old_string: "", new_string: "x\n" });
    expect(fresh).toBe("--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1,1 @@\n+x\n");
  });

  it.each([
    ["missing.txt", "missing.txt does not exist"],
    ["nul", "nul is a binary file"],
    ["large", "large has more than 4194304 bytes"],
    ["src", "src is a directory, not a regular file"],
    ["out/secret.txt", "out/secret.txt is outside the workspace"],
    ["/etc/hosts", "/etc/hosts is outside the workspace"],
    ["src/a.txt", "src/a.txt does not contain what the edit replaces"],
  ])("says in place of a diff why there is none: %s", async (file, why) => {
    await fixture.put("nul", "a\0b");
    await fixture.put("large", "x".repeat(4 * 1024 * 1024 + 1));
    await mkdir(fixture.outside, { recursive: true });
    await writeFile(join(fixture.outside, "secret.txt"), "secret\n");
    await symlink(fixture.outside, join(fixture.directory, "out"));
    const shown = await preview({ file_path: file, old_string: "secret\n", new_string: "x" });
    expect(shown).toContain("[no diff is shown: ");
    expect(shown).toContain(why);
  });

  it("is none for what is not an edit", async () => {
    expect(await preview({ path: "src/a.txt" })).toBeUndefined();
    expect(await preview({ command: "cat src/a.txt" })).toBeUndefined();
    expect(await previewForeignEdit({ arguments: "x", workspace: fixture.directory })).toBeUndefined();
  });
});
