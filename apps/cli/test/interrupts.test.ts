import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { jsonLines, makeWorkspace, nothingRunsWith, processesWith, startHarness } from "./support/harness.ts";

/** A run whose command is under way; `trap` is what its shell does before it sleeps. */
const runningCommand = async ({ trap = "true" } = {}) => {
  const cwd = await makeWorkspace();
  const marker = join(cwd, "marker");
  const command = `${trap}; echo started; while true; do sleep 1; done; true ${marker}`;
  const program = startHarness(["run", "--approve", "once", "--json", `run the command: ${command}`], {
    cwd,
  });
  await program.sees(/"item\.delta"[^\n]*"tool_log"[^\n]*"delta":"started/);
  return { cwd, marker, program };
};

describe("Ctrl-C", () => {
  it("cancels the turn: it ends as cancelled, with exit code 1 and no process left", async () => {
    const { cwd, program } = await runningCommand();
    program.child.kill("SIGINT");
    const { code, signal, stdout } = await program.ended;
    expect({ code, signal }).toEqual({ code: 1, signal: null });
    const lines = jsonLines(stdout);
    expect(lines.at(-2)).toMatchObject({ type: "turn.completed", data: { status: "cancelled" } });
    expect(lines.at(-1)).toMatchObject({ type: "result", data: { status: "cancelled", exitCode: 1 } });
    await nothingRunsWith(cwd);
  });

  it("a second time quits at once, also when the command does not want to end", async () => {
    const { cwd, program } = await runningCommand({ trap: "trap '' TERM INT" });
    program.child.kill("SIGINT");
    // Signals that come at the same time count once, so the second is sent until it has its effect.
    const timer = setInterval(() => program.child.kill("SIGINT"), 20);
    onTestFinished(() => clearInterval(timer));
    const { code, stdout } = await program.ended;
    expect(code).toBe(1);
    expect(stdout).not.toContain('"result"');
    await nothingRunsWith(cwd);
  });

  it("before the turn has begun ends the command with a sentence", async () => {
    const cwd = await makeWorkspace();
    const program = startHarness(["run", "list files"], { cwd });
    await vi.waitFor(async () => expect(await processesWith(`serve --cwd ${cwd}`)).toHaveLength(1), {
      timeout: 15_000,
      interval: 5,
    });
    program.child.kill("SIGINT");
    const { code, stderr, stdout } = await program.ended;
    expect(code).toBe(1);
    expect(`${stdout}${stderr}`).toMatch(/Cancelled before the turn began|○ cancelled/);
    await nothingRunsWith(cwd);
  });
});

describe("kill -9 of the client", () => {
  it("leaves neither a server nor a command behind", async () => {
    const { cwd, program } = await runningCommand();
    program.child.kill("SIGKILL");
    expect(await program.ended).toMatchObject({ signal: "SIGKILL" });
    await nothingRunsWith(cwd);
  });
});
