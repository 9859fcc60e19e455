import { readFile, rename, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ahp, event, handshake, LineAgent, type Reply, serveAhp } from "./support/ahp.ts";
import { failure, makeWorkspace, startProcess } from "./support/harness.ts";
import { harness } from "./support/in-process.ts";

const token = `ghp_${"aB3".repeat(12)}`;

const policyOf = (name: string, then: string): string => `version: 1
name: ${name}
rules:
  - { name: told, mode: shadow, when: { tool: bash }, then: block }
  - { name: force, when: { tool: bash, cel: 'args.command.contains("--force")' }, then: { decision: block, reason: "no \${args.command}" } }
  - { name: rest, then: ${then} }
  - { name: outputs, when: { event: post_action }, then: allow }
`;

const brokenPolicy = `version: 1
rules:
  - name: a
    when: { cel: "args.x +" }
    then: block
  - { name: b, then: perhaps }
`;

const action = (command: string) => ({ tool_name: "bash", arguments: { command } });
const eventFile = (payload: unknown, type = "pre_action"): string =>
  JSON.stringify({ event_type: type, payload });

/** As a careful editor does: what is read is the old or the new. */
const replaceFile = async (file: string, text: string): Promise<void> => {
  await writeFile(`${file}.new`, text);
  await rename(`${file}.new`, file);
};

const entriesOf = async (file: string, what: string): Promise<{ outcome?: string; details?: object }[]> =>
  (await readFile(file, "utf8"))
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { action: string; outcome?: string; details?: object })
    .filter(({ action: name }) => name === what);

describe("harness ahp check", () => {
  it("says the decision, the rule that made it and why, and ends as the decision asks", async () => {
    const cwd = await makeWorkspace({ "p.yaml": policyOf("team", "allow") });
    const blocked = await ahp(["check", "--policy", "p.yaml", "-"], cwd, eventFile(action("push --force")));
    expect(blocked).toMatchObject({ code: 3, stderr: "" });
    expect(blocked.stdout).toBe(
      [
        "pre_action bash → block by force: no push --force (rule force)",
        '  why: tool: bash; cel: args.command.contains("--force")',
        "  (in shadow: told → block)",
        "",
      ].join("\n"),
    );
    const passed = await ahp(["check", "--policy", "p.yaml", "-"], cwd, eventFile({ tool_name: "read" }));
    expect(passed).toMatchObject({ code: 0, stdout: "pre_action read → allow by rest\n  why: always\n" });
  });

  it("warns of a change that no event has, with its place and what was meant; test, serve and run do so too", async () => {
    const odd =
      "version: 1\nrules:\n  - { name: odd, when: { tool: bash }, then: { decision: modify, set: { command: ls } } }\n";
    const cwd = await makeWorkspace({ "p.yaml": odd, "p.test.yaml": "cases: []\n" });
    const warning =
      "p.yaml:3:73: set: pre_action has no command, so agents refuse the change; did you mean arguments.command?";
    const args = ["check", "--policy", "p.yaml", "-"];
    const text = await ahp(args, cwd, eventFile(action("ls -l")));
    expect(text).toMatchObject({ code: 0, stderr: `harness ahp: warning: ${warning}\n` });
    const json = await ahp([...args, "--json"], cwd, eventFile(action("ls -l")));
    expect(JSON.parse(json.stdout)).toMatchObject({
      warnings: [{ line: 3, path: "rules.0.then.set.command" }],
    });
    expect((await ahp(["test", "p.yaml"], cwd)).stderr).toContain(warning);
    const served = await ahp(["serve", "--stdio", "--policy", "p.yaml"], cwd);
    expect(served.stderr).toContain(`warning: ${warning}`);
    const run = await harness(["run", "--policy", "p.yaml", "read README.md"], { cwd });
    expect(run.stderr.match(/warning: .*arguments\.command\?/g)).toHaveLength(1);
  });

  it("takes several events, in one document of JSON, by the highest of their codes", async () => {
    const cwd = await makeWorkspace({
      "p.yaml": policyOf("team", "allow"),
      "one.json": eventFile({ tool_name: "read" }),
      "two.json": `[${eventFile(action("push --force"))},${eventFile({}, "post_action")}]`,
    });
    const end = await ahp(["check", "--json", "--policy", "p.yaml", "one.json", "two.json"], cwd);
    expect(end.code).toBe(3);
    expect(JSON.parse(end.stdout)).toMatchObject({
      policy: "team",
      file: "p.yaml",
      results: [
        { event_type: "pre_action", decision: { decision: "allow" }, rule: "rest", source: "rule" },
        { event_type: "pre_action", decision: { decision: "block" }, rule: "force" },
        { event_type: "post_action", rule: "outputs", mode: "enforce" },
      ],
    });
  });

  it("knows the shipped policy, with the working directory as the workspace", async () => {
    const cwd = await makeWorkspace();
    const check = (payload: unknown) =>
      startProcess(["ahp", "check", "--json", "--policy", "default", "-"], { cwd, input: eventFile(payload) })
        .ended;
    const read = (path: string) => check({ tool_name: "read", arguments: { path } });
    expect(await read(join(cwd, "README.md"))).toMatchObject({ code: 0 });
    const outside = await read(join(cwd, "..", "x"));
    expect(outside.code).toBe(3);
    expect(outside.stdout).toContain('"files-outside"');
    expect((await check(action("sudo ls"))).stdout).toContain('"privileged-commands"');
  });

  it("refuses what cannot be used: each place of a broken policy, a query, standard input twice", async () => {
    const cwd = await makeWorkspace({
      "broken.yaml": brokenPolicy,
      "p.yaml": policyOf("team", "allow"),
      "query.json": '{"query_type":"runs"}',
    });
    const check = (policy: string, ...files: string[]) =>
      ahp(["check", "--policy", policy, ...files], cwd, "{}");
    const broken = await check("broken.yaml", "-");
    expect(broken).toMatchObject({ code: 2, stdout: "" });
    expect(broken.stderr).toMatch(/broken\.yaml:6:22: "then" cannot be "perhaps"; write allow, /);
    await replaceFile(join(cwd, "broken.yaml"), brokenPolicy.replace("perhaps", "block"));
    expect((await check("broken.yaml", "-")).stderr).toMatch(/^harness: broken\.yaml:4:\d+: /);
    const missing = await check("missing.yaml", "-");
    expect(missing).toMatchObject({ code: 2 });
    expect(missing.stderr).toContain("missing.yaml: the file does not exist");
    expect(await check("p.yaml", "query.json")).toMatchObject({ code: 2 });
    expect(await check("p.yaml", "-", "-")).toMatchObject({ code: 2 });
    expect(await check("p.yaml", "-")).toMatchObject({ code: 2 });
    expect(await ahp(["check", "query.json"], cwd)).toMatchObject({ code: 2 });
  });
});

describe("harness ahp test", () => {
  const cases = (expected: string): string => `cases:
  - { name: force, tool: bash, args: { command: a --force }, expect: { decision: block, rule: force } }
  - { name: rest, tool: read, expect: ${expected} }
`;

  it("decides the cases beside the policy and names the rules that none tries", async () => {
    const cwd = await makeWorkspace({ "p.yaml": policyOf("team", "allow"), "p.test.yaml": cases("allow") });
    const end = await ahp(["test", "p.yaml"], cwd);
    expect(end).toMatchObject({ code: 0, stderr: "" });
    expect(end.stdout).toBe(
      "ok    force\nok    rest\n2 passed, 0 failed; 75 % of the rules decided; no case for outputs\n",
    );
  });

  it.each([
    ["a file", {}],
    ["cases", { "p.test.yaml": "cases: []\n" }],
  ])("says that a policy without %s has no tests, and does not pass", async (_what, files) => {
    const cwd = await makeWorkspace({ "p.yaml": policyOf("team", "allow"), ...files });
    const end = await ahp(["test", "p.yaml"], cwd);
    expect(end).toMatchObject(failure(2, "p.yaml has no tests: there are no cases in "));
    expect(end.stderr).toContain("For an example: harness ahp test --help\n");
  });

  it("fails with a case that is wrong, and says how", async () => {
    const cwd = await makeWorkspace({ "p.yaml": policyOf("team", "allow"), "c.yaml": cases("block") });
    const end = await ahp(["test", "p.yaml", "--cases", "c.yaml"], cwd);
    expect(end.code).toBe(1);
    expect(end.stdout).toContain('FAIL  rest\n        decision: expected "block", got "allow"\n');
    const json = await ahp(["test", "p.yaml", "--cases", "c.yaml", "--json"], cwd);
    expect(json.code).toBe(1);
    expect(JSON.parse(json.stdout)).toMatchObject({
      passed: 1,
      failed: 1,
      coverage: { uncovered: ["outputs"], decisions: { force: 1, rest: 1, told: 1 } },
      cases: [
        { name: "force", passed: true, decision: "block", rule: "force" },
        { name: "rest", passed: false, problems: ['decision: expected "block", got "allow"'] },
      ],
    });
  });

  it("knows the shipped policy, and refuses cases that are broken or missing", async () => {
    const cwd = await makeWorkspace({
      "p.yaml": policyOf("team", "allow"),
      "c.yaml": "cases: [{ name: a }]\n",
    });
    const shipped = await ahp(["test", "default"], cwd);
    expect(shipped.code).toBe(0);
    expect(shipped.stdout).toContain(" 0 failed; 100 % of the rules decided\n");
    const broken = await ahp(["test", "p.yaml", "--cases", "c.yaml"], cwd);
    expect(broken.code).toBe(2);
    expect(broken.stderr).toMatch(/^harness: c\.yaml:1:\d+: /);
  });
});

describe("harness ahp serve --policy", () => {
  const serve = async (args: readonly string[] = [], files: Record<string, string> = {}) => {
    const cwd = await makeWorkspace({ "p.yaml": policyOf("first", "allow"), ...files });
    const served = await serveAhp(
      ["--unix", "a.sock", "--policy", "p.yaml", "--audit", "log.jsonl", ...args],
      cwd,
    );
    const agent = LineAgent.ofSocket(join(cwd, "a.sock"));
    const welcome = await agent.ask(handshake());
    let last = 0;
    const ask = (payload: unknown, type = "pre_action"): Promise<Reply> =>
      agent.ask(event(type, payload, String(++last)));
    const stop = async () => {
      served.program.kill("SIGTERM");
      return served.program.ended;
    };
    return { ...served, agent, welcome, ask, stop, file: join(cwd, "p.yaml"), log: join(cwd, "log.jsonl") };
  };

  it("decides by the file, says by which rule, and knows the answer to no query", async () => {
    const { ask, agent, welcome, program, file, log, stop } = await serve();
    expect(program.stderr).toContain(`policy first (4 rules) from ${file}; audit log `);
    expect(welcome.result).toMatchObject({
      harness_info: { capabilities: expect.arrayContaining(["pre_action", "confirmation"]) },
    });
    expect((await ask(action("push --force"))).result).toMatchObject({
      decision: "block",
      reason: "no push --force (rule force)",
      metadata: { policy: { name: "first", rule: "force", shadowed: ["told: block"] } },
    });
    expect((await ask({ tool_name: "read" })).result).toMatchObject({ decision: "allow" });
    const query = { query_type: "stats", payload: {}, session_id: "session-1", agent_id: "agent-1" };
    const answer = await agent.ask({ jsonrpc: "2.0", id: "q", method: "ahp/query", params: query });
    expect(answer.result).toMatchObject({ answer: null, reason: expect.any(String) });
    expect((await stop()).stderr).toContain("pre_action bash → block by force");
    expect(await entriesOf(log, "ahp.event")).toMatchObject([
      { details: { decision: "block", rule: "force", shadowed: "told: block" } },
      { details: { decision: "allow", rule: "rest" } },
    ]);
    expect(JSON.stringify(await entriesOf(log, "ahp.event"))).not.toContain("--force");
    expect(await entriesOf(log, "ahp.policy")).toMatchObject([
      { outcome: "ok", details: { name: "first", file, rules: 4 } },
    ]);
  });

  it("puts a changed file in force, keeps the former where it is broken, and drops no call", async () => {
    const { ask, program, file, log, stop } = await serve(["--quiet"]);
    const word = async () => (await ask({ tool_name: "read" })).result?.decision;
    const answers: Promise<Reply>[] = [];
    const go = () => {
      for (let count = 0; count < 20; count++) answers.push(ask({ tool_name: "read" }));
    };
    expect(await word()).toBe("allow");
    go();
    await replaceFile(file, policyOf("second", "escalate"));
    await program.reports(/policy second \(4 rules\) from \S+p\.yaml is in force now\n/);
    expect(await word()).toBe("escalate");
    go();
    await replaceFile(file, brokenPolicy);
    await program.reports(/p\.yaml:6:22: .*; the previous policy stays in force\n/);
    expect(await word()).toBe("escalate");
    go();
    await replaceFile(file, policyOf("third", "block"));
    await program.reports(/policy third/);
    expect(await word()).toBe("block");
    const words = (await Promise.all(answers)).map(({ result }) => result?.decision);
    expect(words).toHaveLength(60);
    for (const one of words) expect(["allow", "escalate", "block"]).toContain(one);
    expect(await stop()).toMatchObject({ code: 0 });
    expect(await entriesOf(log, "ahp.policy")).toMatchObject([
      { outcome: "ok", details: { name: "first" } },
      { outcome: "ok", details: { name: "second" } },
      { outcome: "refused", details: { file, reason: "policy_invalid", line: 6, column: 22 } },
      { outcome: "ok", details: { name: "third" } },
    ]);
  });

  it("does not start with a policy that is broken or missing", async () => {
    const cwd = await makeWorkspace({ "p.yaml": brokenPolicy });
    const end = await ahp(["serve", "--unix", "a.sock", "--policy", "p.yaml", "--audit", "log.jsonl"], cwd);
    expect(end).toMatchObject({ code: 2, stdout: "" });
    expect(end.stderr).toMatch(/^harness: p\.yaml:6:22: /);
    for (const file of ["log.jsonl", "a.sock"]) {
      await expect(stat(join(cwd, file))).rejects.toMatchObject({ code: "ENOENT" });
    }
    expect(await ahp(["serve", "--stdio", "--policy", "none.yaml"], cwd)).toMatchObject({ code: 2 });
  });
});

const allowAll = "version: 1\nrules: []\ndefaults: { gate: allow }\n";

describe("harness ahp backtest", () => {
  const play = async (args: readonly string[]) => {
    const cwd = await makeWorkspace({ "p.yaml": policyOf("new", "allow"), "all.yaml": allowAll });
    const recorded = ["--unix", "a.sock", "--policy", "all.yaml", "--audit", "log.jsonl"];
    const { program } = await serveAhp([...recorded, ...args], cwd);
    const agent = LineAgent.ofSocket(join(cwd, "a.sock"));
    await agent.ask(handshake());
    await agent.ask(event("pre_action", action(`push --force ${token}`), "1"));
    await agent.ask(event("pre_action", { tool_name: "read", password: "hunter2" }, "2"));
    await agent.ask(event("pre_prompt", { prompt: "hello" }, "3"));
    program.kill("SIGTERM");
    await program.ended;
    return cwd;
  };

  it("says what would have been decided otherwise of events that were recorded without their secrets", async () => {
    const cwd = await play(["--record-content"]);
    const log = await readFile(join(cwd, "log.jsonl"), "utf8");
    expect(log).toContain("push --force");
    for (const secret of [token, "hunter2"]) expect(log).not.toContain(secret);
    const end = await ahp(["backtest", "--policy", "p.yaml", "log.jsonl"], cwd);
    expect(end).toMatchObject({ code: 0, stderr: "" });
    expect(end.stdout).toMatch(
      /pre_action bash \(session session-1, agent agent-1\)\n {4}allow → block by force: no push --force \[redacted\]/,
    );
    expect(end.stdout).toContain("3 decided events: 2 as before, 1 otherwise\n");
    const json = await ahp(["backtest", "--json", "--policy", "p.yaml", "log.jsonl"], cwd);
    expect(JSON.parse(json.stdout)).toMatchObject({
      decided: 3,
      changed: 1,
      transitions: { "allow → block": 1, "allow → allow": 2 },
      changes: [{ was: "allow", now: "block", rule: "force", event: { payload: { tool_name: "bash" } } }],
    });
  });

  it("says that a log holds no events, and which log it cannot read", async () => {
    const cwd = await play([]);
    const end = await ahp(["backtest", "--policy", "default", "log.jsonl"], cwd);
    expect(end.code).toBe(0);
    expect(end.stdout).toContain("3 decided events: 0 as before, 0 otherwise, 3 without their content\n");
    expect(end.stderr).toContain("--record-content");
    expect(await ahp(["backtest", "--policy", "default", "none.jsonl"], cwd)).toMatchObject(
      failure(4, "none.jsonl: there is no audit log"),
    );
    await writeFile(join(cwd, "odd.jsonl"), `{}\n${await readFile(join(cwd, "log.jsonl"), "utf8")}`);
    expect(await ahp(["backtest", "--policy", "default", "odd.jsonl"], cwd)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("harness audit verify odd.jsonl\n"),
    });
    expect(await ahp(["backtest", "--policy", "none.yaml", "log.jsonl"], cwd)).toMatchObject({ code: 2 });
  });
});
