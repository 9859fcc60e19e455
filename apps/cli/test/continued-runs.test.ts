import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { jsonLines, makeWorkspace, startProcess } from "./support/harness.ts";
import { harness } from "./support/in-process.ts";

/** A thread whose run was killed with kill -9 while its command was running. */
const killedRun = async () => {
  const cwd = await makeWorkspace();
  const prompt = "run the command: echo ran >> ran.txt; sleep 60";
  const run = startProcess(["run", "--no-policy", "--approve", "once", "--json", prompt], { cwd });
  const ran = () => readFile(join(cwd, "ran.txt"), "utf8");
  await vi.waitFor(async () => expect(await ran()).toBe("ran\n"), { timeout: 30_000 });
  run.kill("SIGKILL");
  await run.ended;
  const { stdout } = await harness(["threads", "list", "--json"], { cwd });
  const [threadId] = /ses_\w+/.exec(stdout) ?? [];
  return { cwd, threadId: threadId as string, ran };
};

describe("harness run of a thread whose last turn was interrupted", () => {
  it("--continue goes on with it to its one end, and runs nothing twice", async () => {
    const { cwd, threadId, ran } = await killedRun();
    const args = ["run", "--no-policy", "--json", "--thread", threadId, "--continue"];
    const { stdout } = await harness(args, { cwd });
    const lines = jsonLines(stdout);
    const result = { status: "completed", exitCode: 4 };
    expect(lines.at(-1)).toMatchObject({ type: "result", data: result });
    expect(lines.filter(({ type }) => type === "turn.completed")).toHaveLength(1);
    expect(await ran()).toBe("ran\n");
    const shown = await harness(["threads", "show", threadId], { cwd });
    expect(shown.stdout).toContain("the server ended here; the turn goes on from its last step");
  });

  it("is left as it is without a prompt, and offers to go on; threads show and list say so, too", async () => {
    const { cwd, threadId } = await killedRun();
    const log = () => readFile(join(cwd, ".harness", "threads", threadId, "events.jsonl"), "utf8");
    const before = await log();
    const { code, stderr } = await harness(["run", "--no-policy", "--thread", threadId], { cwd });
    expect([code, stderr]).toEqual([
      4,
      expect.stringContaining(`harness run --thread ${threadId} --continue`),
    ]);
    expect(await log()).toBe(before);
    const shown = await harness(["threads", "show", threadId], { cwd });
    expect(shown.stdout).toContain(
      `… the last turn was interrupted. To go on with it: harness run --thread ${threadId} --continue`,
    );
    const listed = await harness(["threads", "list"], { cwd });
    expect(listed.stdout).toMatch(/^ses_\w+ .* interrupted /m);
    const begun = await harness(["run", "--no-policy", "--thread", threadId, "list files"], { cwd });
    expect(begun.stderr).toContain("the last turn was interrupted and ends here");
    expect(begun.code).toBe(0);
  });

  it("--continue PROMPT shows how it ended before the answer to the prompt, and forgets no call that may have run", async () => {
    const { cwd, threadId } = await killedRun();
    const args = ["run", "--no-policy", "--thread", threadId, "--continue", "list files"];
    const { code, stdout, stderr } = await harness(args, { cwd });
    expect(stderr).toContain("the turn goes on from its last step");
    expect(stderr).toContain("⊘ ended: 1 call may have run: its end is not known");
    expect(stderr).toContain("● glob");
    expect(stdout).toContain("ran.txt");
    expect(stdout).not.toContain("no result came back");
    expect(code).toBe(4);
  });

  it("says where there is no thread to go on with", () => {
    const texts = [["go"], []].map((words) =>
      harness(["run", "--no-policy", "--continue", ...words], { cwd: "/" }),
    );
    return expect(Promise.all(texts)).resolves.toMatchObject(
      texts.map(() => ({ code: 1, stderr: expect.stringContaining("There is no thread here yet") })),
    );
  });
});
