import { chmod, mkdir, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { GuardedMachine } from "./support/guarded-agent.ts";
import { answerOf, binPath, eventually, failure, startProcess, startProgram } from "./support/harness.ts";
import { harness, startAtTerminal, startHarness } from "./support/in-process.ts";
import { hasPseudoTerminal, withoutPseudoTerminal } from "./support/pseudo-terminal.ts";

const input = JSON.stringify({
  session_id: "s1",
  cwd: "/work/app",
  hook_event_name: "PreToolUse",
  tool_name: "Bash",
  tool_input: { command: "rm -rf /" },
});

const withAgent = async (): Promise<GuardedMachine> => {
  const machine = await GuardedMachine.create();
  await mkdir(join(machine.home, ".codex"));
  return machine;
};

describe("harness guard hook", () => {
  it("writes the hub's answer as one JSON object, by both of its programs", async () => {
    const machine = await withAgent();
    await machine.startHub();
    const options = { cwd: machine.project, env: machine.env, input };
    const quick = startProgram(
      process.execPath,
      [join(binPath, "../guard-hook.cjs"), "codex"],
      options,
    ).ended;
    const answers = [await quick, await startProcess(["guard", "hook", "codex"], options).ended];
    for (const { code, stdout, stderr } of answers) {
      expect([code, stderr]).toEqual([0, ""]);
      expect(JSON.parse(stdout).hookSpecificOutput).toMatchObject({ permissionDecision: "deny" });
    }
  });

  it("ends with 2 and a reason without a hub, for a wrong option, and for an agent that it does not know", async () => {
    const machine = await withAgent();
    const run = (...args: string[]) =>
      startProcess(["guard", "hook", ...args], { cwd: machine.project, env: machine.env, input }).ended;
    expect(await run("codex")).toMatchObject(failure(2, "the hub does not run"));
    expect(await run()).toMatchObject(failure(2, "the host is missing"));
    expect(await run("--host", "codex")).toMatchObject(failure(2, 'unknown option "--host"'));
    expect(await run("codex", "--wait", "1")).toMatchObject(failure(2, 'unknown option "--wait"'));
    expect(await run("codex", "--timeout-ms", "0")).toMatchObject(
      failure(2, "--timeout-ms must be a number"),
    );
    await machine.startHub();
    expect(await run("emacs")).toMatchObject(failure(2, "unknown host emacs"));
    expect((await run("--help")).stdout).toContain("harness guard hook codex");
  });

  it("leaves a question to the agent's own user where the policy says so and the agent can ask; else the inbox has it", async () => {
    const machine = await GuardedMachine.create(`version: 1
name: near
defaults: { gate: { decision: escalate, escalation_target: terminal, reason: it publishes } }
rules: []
`);
    await machine.startHub();
    const ask = (agent: string) =>
      startProcess(["guard", "hook", agent, "--timeout-ms", "4000"], {
        cwd: machine.project,
        env: machine.env,
        input,
      }).ended;
    const near = await ask("claude-code");
    expect(JSON.parse(near.stdout).hookSpecificOutput).toMatchObject({ permissionDecision: "ask" });
    const client = await machine.client();
    expect((await client.call("inbox.list")).records).toEqual([]);
    const away = await ask("codex");
    const { id } = await machine.pending(client);
    expect(JSON.parse(away.stdout).hookSpecificOutput.permissionDecisionReason).toContain(
      `approval ${id} is pending`,
    );
  });
});

describe("harness guard init, status and remove", () => {
  it("show what they would write, write it once, and take it out again to the byte", async () => {
    const machine = await withAgent();
    const path = join(machine.home, ".claude", "settings.json");
    const text = '{\n  "model": "opus"\n}\n';
    await mkdir(join(machine.home, ".claude"));
    await writeFile(path, text);
    const shows = { stdout: expect.stringContaining('"hooks": {') };
    const shown = await machine.harness("guard", "init", "--dry-run");
    expect(shown).toMatchObject({ code: 0, stderr: "" });
    for (const part of [
      "Claude Code",
      "Codex",
      '+  "hooks": {',
      '"onFailure": "block"',
      "would be changed",
    ]) {
      expect(shown.stdout).toContain(part);
    }
    expect(await readFile(path, "utf8")).toBe(text);
    expect(await machine.harness("guard", "init")).toMatchObject({ ...failure(2, "--yes"), ...shows });
    const written = await machine.harness("guard", "init", "--yes");
    expect(written.stdout).toContain("/hooks. Until then it runs every tool unguarded");
    expect(await readFile(path, "utf8")).toContain("guard-hook.cjs claude-code --timeout-ms 3600000");
    const again = JSON.parse((await machine.harness("guard", "init", "--yes", "--json")).stdout) as {
      agents: readonly { agent: string; written: boolean }[];
    };
    expect(again.agents.map(({ agent, written: isWritten }) => [agent, isWritten])).toEqual([
      ["claude-code", false],
      ["codex", false],
    ]);
    const status = await machine.harness("guard", "status", "--json");
    const { hub, agents } = JSON.parse(status.stdout) as {
      hub: { running: boolean };
      agents: readonly { agent: string; hooks: readonly string[] }[];
    };
    expect([status.code, hub.running]).toEqual([0, false]);
    expect(agents.map(({ agent, hooks }) => [agent, hooks.length])).toEqual([
      ["claude-code", 1],
      ["codex", 1],
    ]);
    expect((await machine.harness("guard", "remove", "--yes")).code).toBe(0);
    expect(await readFile(path, "utf8")).toBe(text);
    expect(await machine.harness("guard", "status")).toMatchObject(answerOf(1, "NOT GUARDED"));
    expect((await machine.harness("guard", "remove")).stdout).toBe("There are no hooks to remove.\n");
  });

  it("leave a file that cannot be changed as it is, and change the others", async () => {
    const machine = await withAgent();
    await writeFile(join(machine.home, ".codex", "hooks.json"), "{");
    await mkdir(join(machine.home, ".gemini"));
    const { code, stdout } = await machine.harness("guard", "init", "--yes");
    expect(code).toBe(1);
    expect(stdout).toContain("Codex: NOT CHANGED: Codex: the settings are not JSON at line 1");
    expect(stdout).toContain("Gemini CLI: written");
  });

  it("write for a project what holds on each machine, and nothing through a link that leads out of it", async () => {
    const machine = await withAgent();
    const { stdout, code } = await machine.harness("guard", "init", "--project", "--agent", "codex", "--yes");
    expect(code).toBe(0);
    expect(stdout).toContain("harness is not in the PATH here");
    const text = await readFile(join(machine.project, ".codex", "hooks.json"), "utf8");
    expect(text).toContain('"harness guard hook codex --timeout-ms 3600000"');
    await symlink(machine.home, join(machine.project, ".gemini"));
    expect(
      (await machine.harness("guard", "init", "--project", "--agent", "gemini-cli", "--yes")).stdout,
    ).toContain("leads out of the project");
  });

  it("show what an administrator would put in place, and write nothing", async () => {
    const machine = await withAgent();
    const { stdout } = await machine.harness(
      "guard",
      "init",
      "--managed",
      "--agent",
      "codex",
      "--agent",
      "opencode",
    );
    expect(stdout).toContain("requirements.toml");
    expect(stdout).toContain("allow_managed_hooks_only = true");
    expect(stdout).toContain("has no settings that its user cannot change");
    await expect(readFile(join(machine.home, ".codex", "hooks.json"))).rejects.toMatchObject({
      code: "ENOENT",
    });
  });

  it("refuse a command that is not the hook's program, and report one that was written and answers no more", async () => {
    const machine = await withAgent();
    const program = join(machine.home, "harness");
    const start = `#!/bin/sh\nexec '${process.execPath}' '${binPath}' "$@"\n`;
    await writeFile(program, start);
    await chmod(program, 0o755);
    const init = (command: string) =>
      machine.harness("guard", "init", "--agent", "codex", "--yes", "--command", command);
    for (const wrong of [program, `${program} guard`, join(machine.home, "missing")]) {
      expect(await init(wrong)).toMatchObject(failure(2, '--command "harness guard hook"'));
    }
    await expect(readFile(join(machine.home, ".codex", "hooks.json"))).rejects.toMatchObject({
      code: "ENOENT",
    });
    expect((await init(`${program} guard hook`)).stdout).toContain("Codex: written");
    expect((await machine.harness("guard", "status")).code).toBe(0);
    await writeFile(program, "#!/bin/sh\nexit 0\n");
    expect(await machine.harness("guard", "status")).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/the hooks start .* does not answer as the hook's program/s),
    });
  });

  it("end an agent that is asked for its version at Ctrl-C, and leave nothing of it", async () => {
    const machine = await GuardedMachine.create();
    const [bin, temporary] = [join(machine.home, "bin"), join(machine.home, "temporary")];
    await Promise.all([mkdir(bin), mkdir(temporary)]);
    await writeFile(join(bin, "claude"), `#!/bin/sh\necho $$ > '${bin}/started'\nexec sleep 600\n`);
    await chmod(join(bin, "claude"), 0o755);
    const env = { ...machine.env, PATH: `${bin}:${process.env.PATH}`, TMPDIR: temporary };
    const running = startProcess(["guard", "status"], { cwd: machine.project, env });
    const pid = await eventually(async () => {
      const text = await readFile(join(bin, "started"), "utf8");
      expect(text).toMatch(/^\d+\n$/);
      return Number(text);
    });
    running.kill("SIGINT");
    expect((await running.ended).code).toBe(130);
    expect(() => process.kill(pid, 0)).toThrow(expect.objectContaining({ code: "ESRCH" }));
    expect(await readdir(temporary)).toEqual([]);
  });

  it("say what is left to do: not to start the hub that runs, and which program is not on the PATH", async () => {
    const machine = await withAgent();
    const hub = "Start the hub";
    expect((await machine.harness("guard", "init", "--yes")).stdout).toContain(hub);
    expect((await machine.harness("guard", "remove", "--yes")).code).toBe(0);
    await machine.startHub();
    const again = await machine.harness("guard", "init", "--yes");
    expect(again.stdout).toContain("Next:");
    expect(again.stdout).not.toContain(hub);
    expect((await machine.harness("guard", "status")).stdout).toContain("(codex is not on your PATH)");
    expect((await machine.harness("guard", "init", "--help")).stdout).toContain("2 ");
  });

  it("say that the hooks of an old version do not protect, and which version does", async () => {
    const machine = await withAgent();
    const bin = join(machine.home, "bin");
    await mkdir(bin);
    const claude = join(bin, "claude");
    await writeFile(claude, '#!/bin/sh\necho "2.1.285 (Claude Code)"\n');
    await chmod(claude, 0o755);
    const env = { ...machine.env, PATH: `${bin}:${process.env.PATH}` };
    const run = (...args: string[]) => harness(["guard", ...args], { cwd: machine.project, env });
    const problem = "NOT PROTECTED: Claude Code 2.1.285 is older than 2.1.295";
    const flat = ({ stdout }: { readonly stdout: string }) => stdout.replaceAll(/\s+/g, " ");
    const agent = ["--agent", "claude-code"];
    expect(flat(await run("init", ...agent, "--yes"))).toContain(problem);
    const status = await run("status");
    expect(status.code).toBe(1);
    expect(flat(status)).toContain(`Claude Code 2.1.285: hooks in`);
    expect(flat(status)).toContain(problem);
    await rm(claude);
    await run("remove", ...agent, "--yes");
    expect(flat(await run("init", ...agent, "--yes"))).toContain("Claude Code must be 2.1.295 or newer");
  });

  it("ask in lines of 80 columns in a terminal without a size", async ({ skip }) => {
    skip(!hasPseudoTerminal(), withoutPseudoTerminal);
    const machine = await withAgent();
    const place = { cwd: machine.project, env: machine.env, columns: 0 };
    const asking = startAtTerminal("guard init", place);
    await asking.sees(/Write this file\?/);
    await asking.sees(/No, change nothing/);
    asking.write("\r");
    expect((await asking.ended).code).toBe(3);
  });
});

describe("harness guard doctor", () => {
  it("says what is documented of agents that it cannot run, and keeps it for the status", async () => {
    const machine = await withAgent();
    const report = await machine.harness("guard", "doctor", "--json");
    expect(report.code).toBe(0);
    const { agents } = JSON.parse(report.stdout) as {
      agents: readonly { agent: string; isProved: boolean }[];
    };
    expect(agents).toMatchObject([{ agent: "codex", isProved: false }]);
    const { stdout } = await machine.harness("guard", "doctor");
    expect(stdout).toContain("checked and recorded (documented, not proved)");
    expect((await machine.harness("guard", "status")).stdout).toContain("documented, not proved");
  });
});

describe("harness ahp check --agent", () => {
  it("takes the input of a coding agent's hook as it is", async () => {
    const machine = await withAgent();
    const check = (text: string, agent = "codex") =>
      startHarness(["ahp", "check", "--policy", "default", "--agent", agent, "-"], {
        cwd: machine.project,
        env: machine.env,
        input: text,
      }).ended;
    expect(await check(input)).toMatchObject(answerOf(3, "destructive-commands"));
    const read = JSON.stringify({
      session_id: "s",
      cwd: machine.project,
      hook_event_name: "BeforeTool",
      tool_name: "read_file",
      tool_input: { file_path: "README.md" },
    });
    expect(await check(read, "gemini-cli")).toMatchObject(answerOf(0, "by reads"));
    expect(await check("{")).toMatchObject(failure(2, "not readable JSON"));
    expect(await check(input, "emacs")).toMatchObject(failure(2, "unknown host"));
    const other = input.replace("PreToolUse", "Notification");
    expect(await check(other)).toMatchObject(failure(2, "no policy is asked about"));
  });
});
