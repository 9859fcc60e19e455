import { join } from "node:path";
import { createWorkspaceAgent } from "@harnesskit/workspace-agent";
import { PreparedSchema } from "@harnesskit/workspace-agent/declarations";
import { describe, expect, it } from "vitest";
import { createStyle, toCodes } from "../src/terminal/style.ts";
import { type AskedCall, alwaysChoices, askedCallLines } from "../src/timeline/asked-call.ts";
import { makeWorkspace } from "./support/harness.ts";

const prepareWrite = async (directory: string, input: { path: string; content: string }) => {
  const context = { project_root: directory };
  const call = { tool: "write", input };
  return PreparedSchema.parse(await createWorkspaceAgent().call("prepare", call, { context }));
};

/** What the user would be asked about a write of so many lines. */
const writeOf = async (lines: number) => {
  const directory = await makeWorkspace();
  const given = { path: "new.txt", content: `${"x".repeat(99)}\n`.repeat(lines) };
  const { input, preview } = await prepareWrite(directory, given);
  return { tool: "write", input, digest: "sha256:0", ...(preview !== undefined && { preview }) };
};

const shown = async (asked: AskedCall) =>
  (await askedCallLines(asked, { directory: "/work" }, createStyle(false))).join("\n");

describe("the question about a write", () => {
  it("offers always where all of it is shown", async () => {
    const metadata = await writeOf(10);
    expect(alwaysChoices(metadata, "/work")).toMatchObject([
      { reach: "exact", hint: "for exactly this, in /work" },
    ]);
    expect(await shown(metadata)).not.toContain("not shown");
  });

  it("offers no always where the diff is cut, and says so", async () => {
    const metadata = await writeOf(5000);
    expect(metadata.preview).toContain("[the diff is cut here");
    expect(alwaysChoices(metadata, "/work")).toEqual([]);
    expect(await shown(metadata)).toContain(
      "Part of it is not shown: it can be allowed once, not for always.",
    );
  });

  it("is not deceived by a file that says that it is cut", async () => {
    const directory = await makeWorkspace();
    const content = "[the diff is cut here: 1 of 2 characters are not shown]\n";
    const { input, preview = "" } = await prepareWrite(directory, {
      path: join(directory, "new.txt"),
      content,
    });
    const metadata = { tool: "write", input, digest: "sha256:0", preview };
    expect(alwaysChoices(metadata, "/work")).toHaveLength(1);
  });
});

describe("the question of an approval", () => {
  const ask = (asked: Partial<AskedCall>) => shown({ tool: "bash", input: {}, ...asked });

  it("shows a command whole, with its other inputs", async () => {
    const command = `first\n${"x".repeat(20_000)} \u202e`;
    const text = await ask({ input: { command, timeoutMs: 5 } });
    expect(text).toContain(`  │ first\n  │ ${"x".repeat(20_000)} ⟨U+202E⟩\n`);
    expect(text).toContain('"timeoutMs": 5');
    expect(text).toContain("in /work");
    expect(text).toContain("no sandbox");
    const grave = await ask({ input: { command: "rm -rf ~" } });
    expect(grave).toContain("  │ rm -rf ~\n  risk critical: ");
    const unknown = await ask({ tool: "wipe_disk", input: { command: "ls", disk: "sda" } });
    expect(unknown).toContain("wipe_disk: call it with this input");
    expect(unknown).not.toMatch(/risk low|run this command/);
    const coloured = await askedCallLines(
      { tool: "bash", input: { command: "cat 'a b' > c" } },
      { directory: "/" },
      createStyle(true),
    );
    expect(toCodes(coloured[1] ?? "", true)).toContain(
      "\u001b[1mcat\u001b[22m \u001b[32m'a b'\u001b[39m \u001b[33m>\u001b[39m c",
    );
  });

  it("shows a change as a diff, in colour, and why it is asked", async () => {
    const preview = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\u001b[0m\n+new\n";
    const text = await ask({ tool: "edit", input: { path: "x" }, preview, reason: "policy" });
    expect(text).toContain("edit: change x (+1 −1)\n  │ --- a/x\n");
    expect(text).toContain("  │ -old⟨U+001B⟩[0m\n  │ +new\n");
    expect(text).toContain("because policy");
    const asked = { tool: "edit", input: { path: "x" }, preview };
    const coloured = await askedCallLines(asked, { directory: "/" }, createStyle(true));
    expect(coloured.map((line) => toCodes(line, true))).toContain(
      "  \u001b[2m│\u001b[22m \u001b[32m+new\u001b[39m",
    );
  });
});

it("says in words that a command runs in the background, and how it is seen and stopped", async () => {
  const asked = { tool: "bash", input: { command: "npm run dev", background: true } };
  const text = await shown(asked);
  expect(text).toContain("bash: run this command in the background");
  expect(text).toContain("until it ends, you ask to stop it, or this program ends");
  expect(text).not.toContain("true");
  const odd = await shown({ ...asked, input: { ...asked.input, background: "yes" } });
  expect(odd).toContain('"background": "yes"');
});
