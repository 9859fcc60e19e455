import { readFile } from "node:fs/promises";
import type { TimelineRow } from "@harnesskit/protocol/hub";
import { expect, it } from "vitest";
import { failure, makeWorkspace, type Start, startProcess } from "./support/harness.ts";
import { agentOf, startHub } from "./support/hub.ts";
import { harness, startHarness } from "./support/in-process.ts";

/** A hub with an agent that has read a file and asked for a command, which the policy blocks. */
const withRows = async (start: Start = startHarness) => {
  const cwd = await makeWorkspace();
  const { env, place, program } = await startHub(cwd, [], start);
  const agent = await agentOf(place, "app");
  const asks = (tool_name: string, args: object) =>
    agent.decide(
      "pre_action",
      { action_type: "tool_call", tool_name, arguments: args as never },
      { metadata: { wait_ms: 0 } },
    );
  await agent.decide("pre_prompt", { prompt: "tidy up\nplease" });
  await asks("read", { path: "a.txt" });
  await asks("bash", { command: "rm -rf /" });
  return {
    agent,
    asks,
    cwd,
    place,
    program,
    timeline: (...args: string[]) => harness(["timeline", ...args], { cwd, env }),
    env,
  };
};

it("tells people what the agents did, in their words, the newest last", async () => {
  const { timeline } = await withRows();
  const { code, stdout } = await timeline();
  expect(code).toBe(0);
  const lines = stdout.trimEnd().split("\n");
  expect(lines).toHaveLength(3);
  expect(lines[0]).toMatch(/^· \d{4}-\d\d-\d\d \d\d:\d\d:\d\d {2}app {2}asked tidy up · allowed/);
  expect(lines[1]).toContain("read a.txt · allowed by rule reads · running");
  expect(lines[2]).toMatch(/^✗ .* bash rm -rf \/ · blocked by .* · refused$/);
  expect((await timeline("--failed", "--limit", "1")).stdout).toContain("rm -rf /");
  expect((await timeline("--agent", "other")).stdout).toBe("No row fits.\n");
});

it("shows people one row for a prompt that is judged again, and programs each row", async () => {
  const { agent, timeline } = await withRows();
  const metadata = { turn_id: "t1" };
  await agent.decide("pre_prompt", { prompt: "again" }, { metadata });
  await agent.decide("pre_prompt", { prompt: "again" }, { metadata });
  const shown = (await timeline()).stdout.split("\n").filter((line) => line.includes("asked again"));
  expect(shown).toHaveLength(1);
  const rows = (await timeline("--json")).stdout.split("\n").filter((line) => line.includes("again"));
  expect(rows).toHaveLength(2);
});

it("exports rows as JSON lines and as CSV that no spreadsheet takes for a formula", async () => {
  const { asks, timeline } = await withRows();
  await asks("read", { path: '=HYPERLINK("x")' });
  const { stdout } = await timeline("--json", "--limit", "0");
  const rows = stdout.trimEnd().split("\n");
  expect(rows.map((row) => (JSON.parse(row) as TimelineRow).tool)).toEqual([
    undefined,
    "read",
    "bash",
    "read",
  ]);
  const csv = (await timeline("--csv")).stdout.trimEnd().split("\r\n");
  expect(csv[0]).toBe(
    "id,time,agent,session,turn,subagent,type,tool,summary,state,decision,rule,reason,approval,answered_by,risk,duration_ms,outcome",
  );
  expect(csv).toHaveLength(5);
  expect(csv[4]).toContain('"read =HYPERLINK(""x"")"');
});

it("goes on with what comes, until Ctrl-C", async () => {
  const { asks, cwd, env, program } = await withRows();
  await asks("edit", { path: "a.txt" });
  const following = startHarness("timeline --follow --tool edit", { cwd, env });
  await following.sees(/edit a\.txt/);
  await asks("edit", { path: "b.txt" });
  await following.sees(/edit b\.txt/);
  program.kill("SIGTERM");
  await program.ended;
  await following.reports(/harness timeline: the hub is away; trying again/);
  await startHub(cwd);
  await following.reports(/harness timeline: connected to the hub again/);
  following.kill("SIGINT");
  expect((await following.ended).code).toBe(130);
});

it.each(["SIGINT", "SIGKILL"] as const)(
  "shows what a hub has left after %s, and changes nothing in its file",
  async (signal) => {
    const { program, place, timeline } = await withRows(signal === "SIGKILL" ? startProcess : startHarness);
    // The hub writes its rows at the latest when it is asked for them.
    expect((await timeline()).code).toBe(0);
    program.kill(signal);
    const { stderr: said } = await program.ended;
    if (signal === "SIGINT")
      expect(said).toContain(`ended; questions and timeline are kept in ${place.directory}\n`);
    const file = `${place.directory}/timeline.db`;
    const { code, stdout, stderr } = await timeline("--tool", "bash");
    expect(code).toBe(0);
    expect(stdout).toMatch(/^✗ .* bash rm -rf \/ · blocked by .* · refused\n$/);
    expect(stderr).toBe(`harness timeline: no hub runs; this is what one left in ${file}\n`);
    const before = await readFile(file);
    expect((await timeline("--json", "--limit", "0")).stdout.trimEnd().split("\n")).toHaveLength(3);
    expect(await readFile(file)).toEqual(before);
    expect(await timeline("--follow")).toMatchObject(failure(4, "harness hub --open"));
  },
);
