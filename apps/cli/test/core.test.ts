import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { helloAgent, makeAgent } from "./support/agents.ts";
import { eventually, failure, makeWorkspace, nothingRunsWith } from "./support/harness.ts";
import { harness, startHarness } from "./support/in-process.ts";

const greet = "com.example.hello/greet";

const id = "com.example.made";

describe("harness core", () => {
  it("lists the tools that the agents registered, and ends with nothing left", async () => {
    const cwd = await makeWorkspace();
    const end = await harness(["core", "--agent", helloAgent, "--list"], { cwd });
    expect(end).toMatchObject({ code: 0, stderr: "" });
    expect(end.stdout.split("\n")).toEqual([
      expect.stringMatching(/greet +Greets a person$/),
      expect.stringMatching(/prepare +Shows what a call would do$/),
      expect.stringMatching(/sign +Adds a person to GUESTS\.md/),
      "",
    ]);
    const json = await harness(["core", "--agent", helloAgent, "--list", "--json"], { cwd });
    expect(JSON.parse(json.stdout)).toMatchObject({
      tools: [
        { tool_id: greet, agent_id: "com.example.hello", input_schema: { type: "object" } },
        { tool_id: "com.example.hello/prepare", side_effects: false },
        { tool_id: "com.example.hello/sign", side_effects: true, permissions: ["fs.write"] },
      ],
    });
    await nothingRunsWith(join(helloAgent, "agent.mjs"));
  });

  it("calls a tool: its output on standard output, nothing else", async () => {
    const cwd = await makeWorkspace();
    const call = ["core", "--agent", helloAgent, "--call", greet, "--input", '{"name":"Ada"}'];
    expect(await harness(call, { cwd })).toMatchObject({
      code: 0,
      stdout: '{"greeting":"Hello, Ada!"}\n',
      stderr: "",
    });
    const { stdout } = await harness([...call, "--json"], { cwd });
    expect(
      stdout
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as unknown),
    ).toMatchObject([{ type: "result", status: "succeeded", output: { greeting: "Hello, Ada!" } }]);
  });

  it("calls a tool for a project", async () => {
    const cwd = await makeWorkspace();
    const project = await makeWorkspace({ "GUESTS.md": "- Ada\n" });
    const call = ["core", "--agent", helloAgent, "--call", greet, "--input", '{"name":"Ada"}'];
    expect(await harness([...call, "--project", project], { cwd })).toMatchObject({
      code: 0,
      stdout: '{"greeting":"Welcome back, Ada!"}\n',
      stderr: "",
    });
  });

  it("streams what a tool says to standard error, made safe", async () => {
    const cwd = await makeWorkspace();
    const agent = await makeAgent(
      id,
      `tool({ name: "say", description: "Says", effects: "read", input: { type: "object" }, async run(_input, context) {
        await context.stdout("one\\n");
        await context.status("\\u001b[31mtwo\\n");
        return { said: 2 };
      } })`,
    );
    const end = await harness(["core", "--agent", agent, "--call", "com.example.made/say"], { cwd });
    expect(end).toMatchObject({ code: 0, stdout: '{"said":2}\n' });
    expect(end.stderr).toBe("one\n⟨U+001B⟩[31mtwo\n");
  });

  it("ends at the first agent that does not start, and says why", async () => {
    const cwd = await makeWorkspace();
    const broken = await makeAgent(id, '(console.error("no luck today"), process.exit(7))');
    const end = await harness(["core", "--agent", helloAgent, "--agent", broken, "--list"], { cwd });
    expect(end).toMatchObject({ code: 4, stdout: "" });
    expect(end.stderr).toMatch(/com\.example\.made did not start/);
    expect(end.stderr).toMatch(/no luck today/);
    await nothingRunsWith(join(helloAgent, "agent.mjs"));
  });

  it("says on standard error and in the audit which tools it rejected, and lists the others", async () => {
    const cwd = await makeWorkspace();
    const agent = await makeAgent(
      id,
      `tool({ name: "good", description: "Good", input: { type: "object" }, run: () => ({}) }),
      tool({ name: "huge", description: "Huge", run: () => ({}), input: {
        type: "object",
        properties: Object.fromEntries(Array.from({ length: 600 }, (_, n) => ["p" + n, { type: "string" }])),
      } })`,
    );
    const audit = join(cwd, "logs", "audit.jsonl");
    const end = await harness(["core", "--agent", agent, "--list", "--audit", audit], { cwd });
    expect(end).toMatchObject({ code: 0, stdout: "com.example.made/good  Good\n" });
    expect(end.stderr).toMatch(/the tool com\.example\.made\/huge of com\.example\.made is rejected: \S/);
    expect(await readFile(audit, "utf8")).toMatch(/"action":"tool\.rejected".*com\.example\.made\/huge/);
  });

  it("stays without --list and --call: shows the socket's directory and each agent's health, until Ctrl-C", async () => {
    const cwd = await makeWorkspace();
    const program = startHarness(["core", "--agent", helloAgent, "--json"], { cwd });
    const [, line = ""] = await program.sees(/^(\{"type":"core".*\})\n/);
    const { directory, socket } = JSON.parse(line) as { directory: string; socket: string };
    expect(dirname(socket)).toBe(directory);
    const [, ready = ""] = await program.sees(/(\{"type":"health"[^\n]*"state":"ready"[^\n]*\})\n/);
    const { pid } = JSON.parse(ready) as { pid: number };
    process.kill(pid, "SIGKILL");
    await program.sees(/"state":"ready"[^\n]*"restarts":1|"restarts":1[^\n]*"state":"ready"/);
    program.kill("SIGINT");
    expect(await program.ended).toMatchObject({ code: 130, stderr: "" });
    await eventually(async () =>
      expect(await nothingRunsWith(join(helloAgent, "agent.mjs"))).toBeUndefined(),
    );
  });
});

describe("what an agent may do beyond reading", () => {
  const writer = () =>
    makeAgent(
      id,
      `tool({ name: "write", description: "Writes", input: { type: "object" }, effects: "write", run: () => ({ wrote: 1 }) }),
      tool({ name: "peek", description: "Reads", input: { type: "object" }, effects: "read", permissions: ["fs.read"], run: () => ({}) })`,
      { permissions: ["fs.read", "fs.write"] },
    );

  it("is what was granted: refused with the command that grants it, then done, then refused again", async () => {
    const cwd = await makeWorkspace();
    const agent = await writer();
    const file = join(cwd, "state", "grants.json");
    const audit = join(cwd, "logs", "core.jsonl");
    const call = (tool: string) =>
      harness(["core", "--agent", agent, "--call", `${id}/${tool}`, "--grants", file, "--audit", audit], {
        cwd,
      });
    expect(await call("peek")).toMatchObject({ code: 0, stderr: "" });
    const refused = await call("write");
    expect(refused).toMatchObject({ code: 3, stdout: "" });
    const [, command = ""] = /: harness (core grant .*)\n$/.exec(refused.stderr) ?? [];
    expect(command).toBe(`core grant ${id} side_effects fs.write --tool write --file ${file}`);
    const granted = await harness([...command.split(" "), "--until", "8h", "--audit", audit], { cwd });
    expect(granted).toMatchObject({ code: 0, stderr: "" });
    expect(await call("write")).toMatchObject({ code: 0, stdout: '{"wrote":1}\n' });
    const { stdout } = await harness(["core", "grants", "--file", file, "--json"], { cwd });
    expect((await harness(["core", "list", "--file", file, "--json"], { cwd })).stdout).toBe(stdout);
    expect(JSON.parse(stdout)).toMatchObject({
      file,
      grants: [
        { agent_id: id, permission: "fs.write", tools: ["write"], until: expect.any(String) },
        { agent_id: id, permission: "side_effects", granted_by: expect.any(String) },
      ],
    });
    const revoke = ["core", "revoke", id, "fs.write", "--file", file, "--audit", audit];
    expect(await harness(revoke, { cwd })).toMatchObject({ code: 0, stderr: "" });
    expect(await harness(revoke, { cwd })).toMatchObject({ code: 1, stdout: "" });
    expect(await call("write")).toMatchObject(failure(3, "fs.write"));
    const log = await readFile(audit, "utf8");
    expect(log.match(/"action":"grant\.(added|revoked)"/g)).toHaveLength(3);
    expect(log).toMatch(/"outcome":"refused".*"missing":"side_effects fs\.write"/);
  });

  it("changes for a core that runs", async () => {
    const cwd = await makeWorkspace();
    const end = await harness(["core", "grant", id, "side_effects", "--file", "g.json", "--no-audit"], {
      cwd,
    });
    expect(end).toMatchObject({ code: 0, stderr: "" });
    expect(end.stdout).toMatch(
      /^granted {2}com\.example\.made {2}side_effects {2}\(all tools; granted .* by /,
    );
    const kept = [
      "core",
      "revoke",
      id,
      "side_effects",
      "--tool",
      "write",
      "--file",
      "g.json",
      "--no-audit",
      "--json",
    ];
    expect(JSON.parse((await harness(kept, { cwd })).stdout)).toMatchObject({ revoked: [{ agent_id: id }] });
    expect(await harness("core grants --file g.json", { cwd })).toMatchObject({
      stdout: "Nothing is granted: agents may only read.\n",
    });
  });

  it("is recorded in the user's state directory, unless it is not to be", async () => {
    const cwd = await makeWorkspace();
    const env = { XDG_STATE_HOME: join(cwd, "state") };
    const log = join(cwd, "state", "harnesskit", "audit", "core.jsonl");
    const list = ["core", "--agent", helloAgent, "--list"];
    expect(await harness([...list, "--no-audit"], { cwd, env })).toMatchObject({ code: 0 });
    await expect(readFile(log)).rejects.toMatchObject({ code: "ENOENT" });
    expect(await harness(list, { cwd, env })).toMatchObject({ code: 0 });
    expect(await readFile(log, "utf8")).toContain('"action":"agent.connected"');
    expect(await harness(["core", "grant", id, "x"], { cwd, env })).toMatchObject({ code: 0 });
    expect(await readFile(log, "utf8")).toContain('"action":"grant.added"');
    expect(await readFile(join(cwd, "state", "harnesskit", "core", "grants.json"), "utf8")).toContain(id);
  });
});

describe("a tool that requires a directive", () => {
  it("is called with the one that --directive issues for exactly this call", async () => {
    const cwd = await makeWorkspace();
    const env = { XDG_STATE_HOME: join(cwd, "state") };
    const agent = await makeAgent(
      id,
      `tool({ name: "deploy", description: "Deploys", input: { type: "object" }, effects: "read", requiresDirective: true, run: () => ({ done: 1 }) })`,
    );
    const call = (...more: string[]) =>
      harness(["core", "--agent", agent, "--call", `${id}/deploy`, "--input", '{"env":"staging"}', ...more], {
        cwd,
        env,
      });
    const refused = await call();
    expect(refused).toMatchObject(failure(3, "or call it with --directive\n"));
    expect(await call("--directive")).toMatchObject({ code: 0, stdout: '{"done":1}\n', stderr: "" });
    const log = await readFile(join(cwd, "state", "harnesskit", "audit", "core.jsonl"), "utf8");
    for (const action of ["issued", "used"]) expect(log).toContain(`"action":"directive.${action}"`);
    expect(log).not.toContain("staging");
  });
});
