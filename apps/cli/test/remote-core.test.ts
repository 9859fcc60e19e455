import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { makeAgent, makeDirectory, signingTool } from "./support/agents.ts";
import { makeWorkspace, startProcess } from "./support/harness.ts";
import { harness, startHarness } from "./support/in-process.ts";
import { ToolServer } from "./support/tool-server.ts";

const agentId = "com.example.far";

/** Says that it runs, and never ends. */
const holding = `tool({
  name: "hold", description: "Waits for ever", input: { type: "object" }, effects: "read",
  run: async (_input, { status, signal }) => {
    await status("holding");
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
    return {};
  },
}), tool({ name: "ping", description: "Answers", input: { type: "object" }, effects: "read", run: () => ({ pong: 1 }) })`;

/** `harness core --serve` in a process of its own, with its grants in a state directory that conversations do not share. */
const startCore = async () => {
  const cwd = await makeWorkspace();
  const agent = await makeAgent(agentId, `${signingTool}, ${holding}`);
  const endpoint = `unix:${join(await makeDirectory(), "s", "core.sock")}`;
  const env = { XDG_STATE_HOME: join(cwd, "core-state") };
  const core = startProcess(["core", "--agent", agent, "--serve", endpoint], { cwd, env });
  await core.sees(/com\.example\.far: ready/);
  const grant = (...more: string[]) =>
    harness(["core", "grant", agentId, "side_effects", "--tool", "sign", ...more], { cwd, env });
  return { agent, core, cwd, endpoint, grant, args: ["--agents", endpoint] };
};

const isSigned = (agent: string) =>
  stat(join(agent, "signed")).then(
    () => true,
    () => false,
  );

describe("the tools of a core in another process", () => {
  it("are those of harness chat, by a token of its user alone, allowed what the core's operator granted to remote callers", async () => {
    const { agent, core, cwd, args, endpoint, grant } = await startCore();
    const tokenFile = `${endpoint.slice("unix:".length)}.token`;
    expect((await stat(tokenFile)).mode & 0o777).toBe(0o600);
    const token = await readFile(tokenFile, "utf8");
    const env = { XDG_STATE_HOME: join(cwd, "chat-state") };
    const input = `use the tool ${agentId} sign with {"name":"Ada"}\n`;
    const chat = ["chat", "--session", "s1", ...args];
    await grant("--caller", "agent:harness.chat");
    const refused = await harness(chat, { cwd, env, input });
    expect(refused.stdout).toContain(`${agentId} lacks the permission side_effects for this tool, caller`);
    await grant("--caller", "agent:harness.remote");
    const asking = startHarness(chat, { cwd, env });
    asking.write(input);
    const [, id = ""] = await asking.sees(/\/approve ([0-9a-f]{8})/);
    expect(await isSigned(agent)).toBe(false);
    asking.write(`/approve ${id}\n/quit\n`);
    await asking.ended;
    expect(asking.stdout).toContain('{"signed":"Ada"}');
    expect(await readFile(join(agent, "signed"), "utf8")).toBe("Ada");
    core.kill("SIGTERM");
    await core.ended;
    await expect(stat(tokenFile)).rejects.toMatchObject({ code: "ENOENT" });
    for (const { stdout, stderr } of [core, asking]) expect(stdout + stderr).not.toContain(token);
  });

  it("are those of harness serve; a call ends as unknown when the core is killed, and the conversation goes on", async () => {
    const { core, args } = await startCore();
    const server = await ToolServer.start({ args });
    const { threadId, turnId } = await server.startTurn(`use the tool ${agentId} hold`);
    await server.until(() =>
      server.told("item.delta").some(({ delta }) => String(delta).includes("holding")),
    );
    core.kill("SIGKILL");
    await server.turnEnd(turnId);
    expect(server.items("tool_exec").at(-1)?.data).toMatchObject({ status: "unknown", code: "agent.lost" });
    const next = await server.startTurn("list files", threadId);
    await server.turnEnd(next.turnId);
    expect(server.items("tool_exec").at(-1)?.data).toMatchObject({ status: "succeeded", tool: "glob" });
  });

  it("are missing where no core listens, which ends the command and says how to start one", async () => {
    const cwd = await makeWorkspace();
    const absent = `unix:${join(cwd, "absent.sock")}`;
    const { code, stderr } = await harness(["run", "--no-policy", "--agents", absent, "go"], { cwd });
    expect(code).toBe(4);
    expect(stderr).toContain(`harness: --agents ${absent}: the socket`);
    expect(stderr).toContain(`harness core --agent DIR --serve ${absent}`);
  });
});
