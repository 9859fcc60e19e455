import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { jsonLines, makeWorkspace, startHarness } from "./support/harness.ts";
import { harness } from "./support/in-process.ts";

/** A thread whose run was killed with kill -9 while its command was running. */
const killedRun = async () => {
  const cwd = await makeWorkspace();
  const prompt = "run the command: echo ran >> ran.txt; sleep 60";
  const run = startHarness(["run", "--no-policy", "--approve", "once", "--json", prompt], { cwd });
  const ran = () => readFile(join(cwd, "ran.txt"), "utf8");
  await vi.waitFor(async () => expect(await ran()).toBe("ran\n"), { timeout: 30_000 });
  run.child.kill("SIGKILL");
  await run.ended;
  const { stdout } = await harness(["threads", "list", "--json"], { cwd });
  const [threadId] = /ses_\w+/.exec(stdout) ?? [];
  return { cwd, threadId: threadId as string, ran };
};

describe("harness run of a thread whose last turn was interrupted", () => {
  it("--continue goes on with it to its one end, and runs nothing twice", async () => {
    const { cwd, threadId, ran } = await killedRun();
    const doctor = await harness(["doctor", "--json"], { cwd });
    expect(doctor.stdout).toContain(`harness run --thread ${threadId} --continue`);
    const args = ["run", "--no-policy", "--json", "--thread", threadId, "--continue"];
    const { stdout } = await harness(args, { cwd });
    const lines = jsonLines(stdout);
    expect(lines.at(-1)).toMatchObject({ type: "result", data: { status: "completed" } });
    expect(lines.filter(({ type }) => type === "turn.completed")).toHaveLength(1);
    expect(await ran()).toBe("ran\n");
    const shown = await harness(["threads", "show", threadId], { cwd });
    expect(shown.stdout).toContain("the server ended here; the turn goes on from its last step");
  });

  it("needs a thread", async () => {
    const cwd = await makeWorkspace();
    const { code, stderr } = await harness(["run", "--no-policy", "--continue", "go"], { cwd });
    expect([code, stderr]).toEqual([2, expect.stringContaining("--continue needs --thread")]);
  });
});
