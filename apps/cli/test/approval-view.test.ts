import { join } from "node:path";
import { createWorkspaceAgent, type Prepared } from "@harnesskit/workspace-agent";
import { describe, expect, it } from "vitest";
import { createStyle } from "../src/terminal/terminal.ts";
import { approvalChoices, approvalLines } from "../src/timeline/approval-view.ts";
import { makeWorkspace } from "./support/harness.ts";

const prepareWrite = async (directory: string, input: { path: string; content: string }) => {
  const context = { project_root: directory };
  return (await createWorkspaceAgent().call("prepare", { tool: "write", input }, { context })) as Prepared;
};

/** What the user would be asked about a write of so many lines. */
const writeOf = async (lines: number) => {
  const directory = await makeWorkspace();
  const given = { path: "new.txt", content: `${"x".repeat(99)}\n`.repeat(lines) };
  const { input, preview } = await prepareWrite(directory, given);
  return { tool: "write", input, digest: "sha256:0", ...(preview !== undefined && { preview }) };
};

const shown = (metadata: Parameters<typeof approvalLines>[0]) =>
  approvalLines(metadata, "/work", createStyle(false)).join("\n");

describe("the question about a write", () => {
  it("offers always where all of it is shown", async () => {
    const metadata = await writeOf(10);
    expect(approvalChoices(metadata).map(({ value }) => value)).toEqual(["once", "always", "reject"]);
    expect(shown(metadata)).not.toContain("not shown");
  });

  it("offers no always where the diff is cut, and says so", async () => {
    const metadata = await writeOf(5000);
    expect(metadata.preview).toContain("[the diff is cut here");
    expect(approvalChoices(metadata).map(({ value }) => value)).toEqual(["once", "reject"]);
    expect(shown(metadata)).toContain("Part of it is not shown: it can be allowed once, not for always.");
  });

  it("is not deceived by a file that says that it is cut", async () => {
    const directory = await makeWorkspace();
    const content = "[the diff is cut here: 1 of 2 characters are not shown]\n";
    const { input, preview = "" } = await prepareWrite(directory, {
      path: join(directory, "new.txt"),
      content,
    });
    const metadata = { tool: "write", input, digest: "sha256:0", preview };
    expect(approvalChoices(metadata).map(({ value }) => value)).toContain("always");
  });
});

describe("the question about a tool of an agent", () => {
  it("shows the whole input beside the preview that its agent made", () => {
    const input = { text: "the exact input", path: "a.txt" };
    const preview = "com.example.notes/add: it changes something";
    const text = shown({ tool: "com_example_notes__add", input, digest: "sha256:0", preview });
    expect(text).toContain('"text": "the exact input"');
    expect(text).toContain('"path": "a.txt"');
    expect(text).toContain(preview);
    expect(text).not.toContain("It writes the file.");
  });
});
