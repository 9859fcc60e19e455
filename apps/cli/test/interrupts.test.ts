import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { makeWorkspace, nothingRunsWith, startProcess } from "./support/harness.ts";

/** A run whose command is under way; `trap` is what its shell does before it sleeps. */
const runningCommand = async ({ trap = "true" } = {}) => {
  const cwd = await makeWorkspace();
  const marker = join(cwd, "marker");
  const command = `${trap}; echo started; while true; do sleep 1; done; true ${marker}`;
  const program = startProcess(
    ["run", "--no-policy", "--approve", "once", "--json", `run the command: ${command}`],
    {
      cwd,
    },
  );
  await program.sees(/"item\.delta"[^\n]*"tool_log"[^\n]*"delta":"started/);
  return { cwd, marker, program };
};

describe("Ctrl-C", () => {
  it("a second time quits at once, also when the command does not want to end", async () => {
    const { cwd, program } = await runningCommand({ trap: "trap '' TERM INT" });
    program.kill("SIGINT");
    // Signals that come at the same time count once, so the second is sent until it has its effect.
    const timer = setInterval(() => program.kill("SIGINT"), 20);
    onTestFinished(() => clearInterval(timer));
    const { code, stdout } = await program.ended;
    expect(code).toBe(130);
    expect(stdout).not.toContain('"result"');
    await nothingRunsWith(cwd);
  });

  it("before the turn has begun ends the command with a sentence", async () => {
    const cwd = await makeWorkspace();
    // The signal comes as soon as the command listens to it, while its server opens.
    const code =
      'process.on("newListener", (name) => { if (name === "SIGINT" && process.listenerCount(name) === 1)' +
      'setImmediate(() => process.kill(process.pid, "SIGINT")); });';
    const env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(code)}` };
    const end = await startProcess(["run", "list files"], { cwd, env, input: "" }).ended;
    expect(end).toMatchObject({
      code: 130,
      stdout: "",
      stderr: "harness: Cancelled before the turn began\n",
    });
    await nothingRunsWith(cwd);
  });
});

describe("kill -9 of the client", () => {
  it("leaves neither a server nor a command behind", async () => {
    const { cwd, program } = await runningCommand();
    program.kill("SIGKILL");
    expect(await program.ended).toMatchObject({ signal: "SIGKILL" });
    await nothingRunsWith(cwd);
  });
});
