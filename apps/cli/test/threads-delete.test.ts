import { describe, expect, it } from "vitest";
import { jsonLines, makeWorkspace } from "./support/harness.ts";
import { harness } from "./support/in-process.ts";

describe("harness threads delete", () => {
  it("removes nothing without a yes: without a terminal it needs --yes", async () => {
    const cwd = await makeWorkspace();
    const { stdout } = await harness(["run", "--no-policy", "--json", "list files"], { cwd });
    const threadId = String(jsonLines(stdout).at(-1)?.data.threadId);
    const short = threadId.slice(4, 9);
    const refused = await harness(["threads", "delete", short], { cwd });
    expect(refused).toMatchObject({ code: 2, stdout: "" });
    expect(refused.stderr).toContain(`--yes`);
    expect((await harness(["threads", "show", short], { cwd })).code).toBe(0);
    const removed = await harness(["threads", "delete", short, "--yes"], { cwd });
    expect(removed).toMatchObject({ code: 0 });
    expect(removed.stdout).toContain(`Removed ${threadId}`);
    expect((await harness(["threads", "show", short], { cwd })).code).not.toBe(0);
  });
});
