import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  binPath,
  type HarnessEnd,
  makeWorkspace,
  nothingRunsWith,
  type RunningProgram,
  startProcess,
  startProgram,
} from "./support/harness.ts";

/** Reads the first of a program's output, and closes the pipe, as `head -1` does. */
const closeAtFirstOutput = (
  program: RunningProgram,
  stream: "stdout" | "stderr" = "stdout",
): Promise<HarnessEnd> => {
  const pipe = program.child[stream];
  pipe?.once("data", () => pipe.destroy());
  return program.ended;
};

/** The type of the last event of each thread, and whether a lock is left. */
const threadsOf = async (cwd: string) => {
  const root = join(cwd, ".harness", "threads");
  const names = await readdir(root);
  return Promise.all(
    names.map(async (name) => {
      const log = await readFile(join(root, name, "events.jsonl"), "utf8");
      const last = JSON.parse(log.trimEnd().split("\n").at(-1) ?? "") as { type: string };
      return { last: last.type, isLocked: existsSync(join(root, name, "lock.json")) };
    }),
  );
};

const ended = { last: "turn.completed", isLocked: false };
const work = 'run the command: for i in $(seq 1 3000); do echo "line $i"; sleep 0.01; done; sleep 300';

describe("standard output whose reader is gone", () => {
  it.each([
    ["as text, which goes to standard error", "stderr", []],
    ["with --json", "stdout", ["--json"]],
  ] as const)(
    "ends harness run %s as Ctrl-C does: the turn ends, no lock and no process is left",
    async (_, stream, options) => {
      const cwd = await makeWorkspace();
      const args = ["run", "--no-policy", "--approve", "once", ...options, work];
      const end = await closeAtFirstOutput(startProcess(args, { cwd, input: "" }), stream);
      expect(end).toMatchObject({ code: 130, signal: null });
      expect(end.stderr).not.toMatch(/EPIPE|\n\s+at /);
      await nothingRunsWith(cwd);
      expect(await threadsOf(cwd)).toEqual([ended]);
    },
  );

  it("ends harness serve: its turn ends, and its lock is released", async () => {
    const cwd = await makeWorkspace();
    const program = startProcess(["serve", "--no-policy"], { cwd });
    const send = (id: number, method: string, params: object) =>
      program.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    send(1, "initialize", {});
    send(2, "thread.create", { title: "t" });
    const [, threadId] = await program.sees(/"threadId":"(ses_[0-9a-f]+)"/);
    send(3, "turn.start", { threadId, input: [{ type: "text", text: "read README.md then list files" }] });
    expect(await closeAtFirstOutput(program)).toMatchObject({ signal: null });
    await nothingRunsWith(cwd);
    const [thread] = await threadsOf(cwd);
    expect(thread?.isLocked).toBe(false);
    expect(thread?.last).toMatch(/^turn\.(completed|error)$/);
  });
});

describe("standard output that cannot be written", () => {
  const redirected = (redirection: string, args: readonly string[], cwd: string) =>
    startProgram("sh", ["-c", `exec "$@" ${redirection}`, "sh", process.execPath, binPath, ...args], {
      cwd,
      input: "",
    }).ended;

  it("is reported where the disk is full: the turn ends, exit code 1", async () => {
    const cwd = await makeWorkspace();
    const end = await redirected("> /dev/full", ["run", "--json", "--approve", "once", work], cwd);
    expect(end).toMatchObject({ code: 1, signal: null, stdout: "" });
    expect(end.stderr).toBe("harness: standard output cannot be written: no space is left on the device\n");
    const answered = await redirected("> /dev/full", ["run", "read README.md"], cwd);
    expect(answered).toMatchObject({ code: 1, signal: null });
    expect(answered.stderr).toContain("harness: standard output cannot be written: no space is left");
    await nothingRunsWith(cwd);
    expect(await threadsOf(cwd)).toEqual([ended, ended]);
  });

  it.each([[[]], [["doctor"]]])(
    "is reported where the disk is full by a command that is soon done: %j",
    async (args) => {
      const end = await redirected("> /dev/full", args, await makeWorkspace());
      expect(end).toMatchObject({ code: 1, signal: null });
      expect(end.stderr).toBe("harness: standard output cannot be written: no space is left on the device\n");
    },
  );

  it("is the null device where it is closed at the start: the turn is done", async () => {
    const cwd = await makeWorkspace();
    const end = await redirected(">&-", ["run", "read README.md"], cwd);
    expect(end).toMatchObject({ code: 0, signal: null });
    expect(end.stderr).toContain("✓ done");
    expect(await threadsOf(cwd)).toEqual([ended]);
  });

  it("ends no command that has only lost its standard error", async () => {
    const cwd = await makeWorkspace();
    const end = await redirected("2> /dev/full", ["run", "--no-policy", "read README.md"], cwd);
    expect(end).toMatchObject({ code: 0, signal: null });
    expect(end.stdout).toContain("`README.md` has 3 lines");
  });
});

describe("Ctrl-C", () => {
  // Tests that run the other servers in this process say the same of them.
  it("ends harness serve in order, with exit code 130", async () => {
    const cwd = await makeWorkspace();
    const program = startProcess(["serve", "--no-policy"], { cwd });
    await program.reports(/NO POLICY/);
    program.kill("SIGINT");
    expect(await program.ended).toMatchObject({ code: 130, signal: null });
    await nothingRunsWith(cwd);
  });

  it("ends a command that does nothing else with exit code 130, too", async () => {
    const cwd = await makeWorkspace();
    const program = startProcess(["ahp", "check", "--policy", "default", "-"], { cwd });
    const kill = setInterval(() => program.kill("SIGINT"), 200);
    const end = await program.ended.finally(() => clearInterval(kill));
    expect(end.stdout).toBe("");
    expect(end.code === 130 || end.signal === "SIGINT").toBe(true);
  });
});
