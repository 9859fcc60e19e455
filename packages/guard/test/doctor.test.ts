import { chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { findHost, hosts } from "@harnesskit/agent-hooks";
import { describe, expect, it, vi } from "vitest";
import {
  DoctorReportSchema,
  proveAgents,
  proveHost,
  runnableHosts,
  runProgram,
  startScriptedModel,
} from "../src/doctor/index.ts";
import { documentedHost } from "../src/doctor/prove-host.ts";
import type { RunnableHost } from "../src/doctor/runnable-hosts.ts";
import { makeDirectory } from "./support/hooks.ts";

/** An agent that is a shell script: `$1` is the model's URL, `$2` the settings with the hooks. */
const scripted = (id: string): RunnableHost => ({
  id,
  async prepare({ home, modelUrl, hooks }) {
    const settings = join(home, "hooks.json");
    await writeFile(settings, hooks ?? "");
    return { args: [modelUrl, settings], env: { HOME: home, NODE: process.execPath } };
  },
});

/** Asks the model once, and runs its command: obeying the hook, whatever it answers, or never. */
const agentProgram = async (behaviour: "obeys" | "ignores" | "idle"): Promise<string> => {
  const path = join(await makeDirectory(), "agent");
  const source = `#!/usr/bin/env node
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
const [, , url, file] = process.argv;
if (url === "--version") { console.log("agent 9.2.3"); process.exit(); }
if (${behaviour === "idle"}) { console.log("no model today"); process.exit(1); }
const body = JSON.stringify({ input: [], tools: [{ type: "function", name: "exec_command" }] });
const text = await (await fetch(url + "/v1/responses", { method: "POST", body })).text();
const { cmd } = JSON.parse(JSON.parse(/data: (.*function_call.*)/.exec(text)[1]).item.arguments);
const hook = Object.values(JSON.parse(readFileSync(file, "utf8")).hooks)[0][0].hooks[0];
const { status, stdout } = spawnSync("sh", ["-c", hook.command], { input: "{}", timeout: hook.timeout * 1000, encoding: "utf8" });
let refused = status === 2;
try { refused ||= JSON.parse(stdout).hookSpecificOutput?.permissionDecision === "deny"; } catch {}
if (${behaviour === "ignores"} || !refused) spawnSync("sh", ["-c", cmd]);
`;
  await writeFile(`${path}.mjs`, source);
  await chmod(`${path}.mjs`, 0o755);
  return `${path}.mjs`;
};

const prove = async (behaviour: "obeys" | "ignores" | "idle") =>
  proveHost({
    host: findHost("codex"),
    runnable: scripted("codex"),
    program: await agentProgram(behaviour),
    probes: ["allow", "deny", "crash", "missing", "no_hub"],
  });

describe("the doctor", () => {
  it("reports what an agent did, beside what is documented, and one line about it", async () => {
    const agent = await prove("obeys");
    expect(agent).toMatchObject({ agent: "codex", version: "9.2.3", isProved: true });
    expect(Object.fromEntries(agent.rows.map(({ probe, observed }) => [probe, observed]))).toEqual({
      allow: "runs",
      deny: "blocked",
      crash: "runs",
      missing: "runs",
      no_hub: undefined,
    });
    expect(agent.rows.find(({ probe }) => probe === "no_hub")?.note).toContain(
      "the hook's program is not known",
    );
    expect(agent.protection).toBe(
      "checked and recorded; it runs the tool if its hook crashes or its hook's program is missing",
    );
    expect(DoctorReportSchema.parse({ version: 1, atMs: 0, agents: [agent] }).agents).toEqual([agent]);
  });

  it("says so of an agent that runs what its hook refused", async () => {
    const { protection, isProved } = await prove("ignores");
    expect(isProved).toBe(true);
    expect(protection).toBe("NOT PROTECTED: it runs a tool that its hook refused");
  });

  it("proves nothing with an agent that does not do what it may", async () => {
    const { isProved, rows, protection } = await prove("idle");
    expect(isProved).toBe(false);
    expect(rows.every(({ observed }) => observed === undefined)).toBe(true);
    expect(rows[0]?.note).toContain("no model today");
    expect(protection).toContain("documented, not proved");
  });

  it("says what is documented of agents that cannot be run here", async () => {
    const agents = hosts.map((host) => ({ host, program: undefined, directory: undefined }));
    const report = await proveAgents({ agents, nowMs: 7 });
    expect(report).toMatchObject({ version: 1, atMs: 7 });
    expect(report.agents.map(({ agent }) => agent)).toEqual(hosts.map(({ id }) => id));
    for (const agent of report.agents) {
      expect(agent.isProved).toBe(false);
      expect(agent.protection).toContain("checked and recorded (documented, not proved)");
      expect(agent.protection).not.toMatch(/sandbox/i);
    }
    expect(documentedHost(findHost("copilot-cli")).protection).toContain(
      "it runs the tool if its hook answers garbage, its hook does not answer in time or it does not trust its hooks",
    );
    expect(runnableHosts.map(({ id }) => id)).toEqual(["claude-code", "codex", "gemini-cli", "copilot-cli"]);
  });

  it("says first that a version is too old", async () => {
    const agent = await proveHost({
      host: { ...findHost("codex"), minimum: { version: "10.0.0", reason: "its hooks do nothing" } },
      runnable: scripted("codex"),
      program: await agentProgram("obeys"),
      probes: ["allow", "deny"],
    });
    expect(agent.protection).toBe(
      "NOT PROTECTED: Codex 9.2.3 is older than 10.0.0: its hooks do nothing. Update it",
    );
  });
});

describe("a scripted model", () => {
  it("speaks to nothing but this machine, and answers what it does not know with 404", async () => {
    await using model = Object.assign(await startScriptedModel(() => ({ say: "hello" })), {
      async [Symbol.asyncDispose]() {
        await model.close();
      },
    });
    expect(new URL(model.url).hostname).toBe("127.0.0.1");
    expect((await fetch(`${model.url}/v1/models`)).status).toBe(404);
    const reply = await fetch(`${model.url}/v1beta/models/g:streamGenerateContent?alt=sse`, {
      method: "POST",
      body: JSON.stringify({ tools: [{ functionDeclarations: [{ name: "run_shell_command" }] }] }),
    });
    expect(await reply.text()).toContain('"text":"hello"');
  });
});

describe("a program of the doctor", () => {
  it("gets nothing of the environment but the path, and ends with all that it has started", async () => {
    const cwd = await makeDirectory();
    process.env.GUARD_TEST_SECRET = "s3cret";
    const script =
      'echo "secret=$GUARD_TEST_SECRET proxy=$HTTPS_PROXY"; sleep 600 & echo $!; [ "$WAIT" ] && sleep 600';
    const run = (env: Record<string, string>, timeoutMs: number) =>
      runProgram({ program: "/bin/sh", args: ["-c", script], env, cwd, timeoutMs });
    const { output, isTimedOut } = await run({}, 60_000);
    delete process.env.GUARD_TEST_SECRET;
    expect(output).toContain("secret= proxy=http://127.0.0.1:9");
    expect(isTimedOut).toBe(false);
    const pid = Number(/^\d+$/m.exec(output)?.[0]);
    // The system needs a moment to remove a process that was killed.
    await vi.waitFor(() =>
      expect(() => process.kill(pid, 0)).toThrow(expect.objectContaining({ code: "ESRCH" })),
    );
    expect(await run({ WAIT: "1" }, 300)).toMatchObject({ isTimedOut: true, code: undefined });
    await expect(
      runProgram({ program: join(cwd, "none"), args: [], env: {}, cwd, timeoutMs: 1000 }),
    ).rejects.toMatchObject({ code: "ENOENT" });
  });
});
