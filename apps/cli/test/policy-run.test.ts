import { stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  eventually,
  failure,
  jsonLines,
  makeWorkspace,
  nothingRunsWith,
  startProcess,
} from "./support/harness.ts";
import { harness, startHarness } from "./support/in-process.ts";
import { ProtocolClient } from "./support/protocol-client.ts";
import { ToolServer } from "./support/tool-server.ts";

const policyOf = (...rules: string[]): string => `version: 1
name: shop
defaults:
  gate: { decision: escalate, reason: no rule knows this }
  pre_prompt: allow
rules:
${rules.map((rule) => `  - ${rule}\n`).join("")}`;

const reads = "{ name: reads, when: { tool: [read, glob, grep] }, then: allow }";
const allowsBash = "{ name: commands, when: { tool: bash }, then: allow }";
const asksBash = "{ name: commands, when: { tool: bash }, then: { decision: escalate, reason: look at it } }";
const blocksBash = "{ name: commands, when: { tool: bash }, then: { decision: block, reason: not today } }";
const gentle =
  "{ name: gently, when: { tool: bash, cel: 'args.command == \"echo a > a.txt\"' }, " +
  "then: { decision: modify, set: { arguments.command: echo b > b.txt } } }";

const workspaceWith = async (...rules: string[]): Promise<string> =>
  makeWorkspace({ "policy.yaml": policyOf(...rules) });

const isThere = (cwd: string, name: string): Promise<boolean> =>
  stat(join(cwd, name)).then(
    () => true,
    () => false,
  );

/** One of several commands, each of which leaves a file, and a rule for it alone. */
const commandOf = (index: number): string => `echo a > ${index}.txt`;
const ruleFor = (index: number, decided: string, name = "command"): string =>
  `{ name: ${name}-${index}, when: { tool: bash, cel: 'args.command == "${commandOf(index)}"' }, then: ${decided} }`;

const makeA = "run the command: echo a > a.txt";

describe("harness run under a policy", () => {
  it("does what the policy allows without a question, and says by which rule", async () => {
    const cwd = await workspaceWith(allowsBash);
    const { code, stderr } = await harness(["run", "--policy", "policy.yaml", makeA], { cwd });
    expect(code).toBe(0);
    expect(stderr).toContain("✓ (rule commands)\n");
    expect(await isThere(cwd, "a.txt")).toBe(true);
    await nothingRunsWith(cwd);
  });

  it("blocks, says why and by which rule, and exits 3; the agent is told so", async () => {
    const cwd = await workspaceWith(blocksBash);
    const args = ["run", "--approve", "once", "--policy", "policy.yaml", makeA];
    const { code, stdout, stderr } = await harness(args, { cwd });
    expect(code).toBe(3);
    expect(stderr).toContain("⊘ blocked: not today (rule commands)\n");
    expect(stdout).toContain("was blocked by a policy");
    expect(await isThere(cwd, "a.txt")).toBe(false);
  });

  it("asks once where the policy escalates, and says why", async () => {
    const cwd = await workspaceWith(asksBash);
    const args = ["run", "--json", "--approve", "once", "--policy", "policy.yaml", makeA];
    const { code, stdout } = await harness(args, { cwd });
    expect(code).toBe(0);
    const lines = jsonLines(stdout);
    const asked = lines.filter(({ type }) => type === "approval.requested");
    expect(asked).toMatchObject([{ data: { metadata: { reason: "look at it (rule commands)" } } }]);
    expect(lines.at(-1)).toMatchObject({
      type: "result",
      data: { policy: { by: "policy shop", allowed: 0, asked: 1, blocked: 0, changed: 0 } },
    });
    expect(await isThere(cwd, "a.txt")).toBe(true);
  });

  it("runs what the policy makes of a call, and shows both", async () => {
    const cwd = await workspaceWith(gentle, allowsBash);
    const { code, stderr } = await harness(["run", "--policy", "policy.yaml", makeA], { cwd });
    expect(code).toBe(0);
    expect(stderr).toContain("~ this call was changed by policy shop (rule gently)");
    expect(stderr).toContain("  │ -command: echo a > a.txt\n  │ +command: echo b > b.txt\n");
    expect(await Promise.all(["a.txt", "b.txt"].map((name) => isThere(cwd, name)))).toEqual([false, true]);
    const threadId = /thread (ses_\w+)/.exec(stderr)?.[1] ?? "";
    const shown = await harness(["threads", "show", threadId], { cwd });
    expect(shown.stdout).toContain("  │ -command: echo a > a.txt\n  │ +command: echo b > b.txt\n");
  });

  it("ends the turn where the policy blocks the prompt", async () => {
    const cwd = await workspaceWith(
      "{ name: words, when: { event: pre_prompt }, then: { decision: block, reason: not this } }",
    );
    const { code, stdout, stderr } = await harness("run --policy policy.yaml 'read README.md'", { cwd });
    expect(code).toBe(3);
    expect(stderr).toContain("✗ blocked by the policy: not this (rule words)");
    expect(stdout).not.toContain("A small demo");
  });

  it("gives the model the prompt that the policy makes, and shows both", async () => {
    const cwd = await workspaceWith(
      "{ name: words, when: { event: pre_prompt, cel: 'payload.prompt.contains(\"a.txt\")' }, " +
        "then: { decision: modify, set: { prompt: read README.md } } }",
      reads,
    );
    const { code, stderr } = await harness(["run", "--policy", "policy.yaml", makeA], { cwd });
    expect(code).toBe(0);
    expect(stderr).toContain("~ the prompt was changed by policy shop (rule words)");
    expect(stderr).toContain(`  │ -${makeA}\n  │ +read README.md\n`);
    expect(stderr).toContain("● read README.md, 3 lines ✓ (rule reads)\n");
    expect(await isThere(cwd, "a.txt")).toBe(false);
  });

  it("refuses a policy with an error before anything begins, with its line and column", async () => {
    const cwd = await makeWorkspace({
      "policy.yaml": "version: 1\nrules:\n  - { name: x, then: perhaps }\n",
    });
    const { code, stderr } = await harness(["run", "--policy", "policy.yaml", makeA], { cwd });
    expect(code).toBe(2);
    expect(stderr).toMatch(/policy\.yaml:3:\d+: /);
    expect(await isThere(cwd, ".harness")).toBe(false);
  });

  it("says loudly that there is none with --no-policy, and asks about what writes or executes", async () => {
    const cwd = await makeWorkspace();
    const { code, stderr } = await harness("run --no-policy --approve once 'run the command: rm -rf gone'", {
      cwd,
    });
    expect(code).toBe(0);
    expect(stderr.match(/^harness run: NO POLICY is in force/gm)).toHaveLength(1);
    expect(stderr).toContain("? approved once by");
    const json = await harness("run --no-policy --json 'list files'", { cwd });
    expect(jsonLines(json.stdout).at(-1)).toMatchObject({ data: { policy: null } });
  });
});

describe("harness run under a harness elsewhere", () => {
  it("does as it says", async () => {
    const cwd = await workspaceWith(
      "{ name: shut, when: { event: pre_prompt }, then: { decision: block, reason: not today } }",
    );
    const socket = join(cwd, "ahp.sock");
    const log = join(cwd, "log", "a.jsonl");
    const policy = join(cwd, "policy.yaml");
    const args = ["ahp", "serve", "--unix", socket, "--policy", policy, "--audit", log];
    const elsewhere = startHarness(args, { cwd });
    await elsewhere.reports(/listening on unix:/);
    expect(await harness(["run", "--ahp", `unix:${socket}`, "read README.md"], { cwd })).toMatchObject(
      failure(3, "✗ blocked by the policy: not today"),
    );
  });

  it("does nothing where there is none, and exits 4", async () => {
    const cwd = await makeWorkspace();
    const nobody = `unix:${join(cwd, "nobody.sock")}`;
    const args = ["run", "--ahp", nobody, "--policy-timeout", "0.5", "read README.md"];
    const { code, stdout, stderr } = await harness(args, { cwd });
    expect(code).toBe(4);
    expect(stderr).toContain("✗ unavailable: No policy can judge this prompt, so it did not happen");
    expect(stdout).not.toContain("A small demo");
  });
});

/** A harness that greets, and stops when it is asked something. */
const stopping = `
import { createInterface } from "node:readline";
const harness_info = { name: "stopping", version: "1", capabilities: ["pre_action", "pre_prompt"] };
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method } = JSON.parse(line);
  if (method === "ahp/event") process.kill(process.pid, "SIGSTOP");
  const result = { protocol_version: "2.4", harness_info };
  if (id !== undefined) process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, result }) + "\\n");
});`;

it.skipIf(process.platform === "win32")(
  "leaves no harness behind that was its child and stopped",
  async () => {
    const cwd = await makeWorkspace({ "stopping.mjs": stopping });
    const endpoint = `stdio:${process.execPath} ${join(cwd, "stopping.mjs")}`;
    const args = ["run", "--ahp", endpoint, "--policy-timeout", "1", "read README.md"];
    const { code, stderr } = await harness(args, { cwd });
    expect(code).toBe(4);
    expect(stderr).toContain("The policy did not judge this prompt in time");
    await nothingRunsWith(cwd);
  },
);

it("a call that waits while its server is killed is judged by the policy in force when it is answered", async () => {
  const cases = [
    {
      rule: "{ decision: block, reason: not today }",
      item: { status: "blocked", code: "policy.blocked", error: "not today (rule command-0)" },
    },
    { rule: "{ decision: escalate, reason: look at it }", item: { status: "succeeded" } },
    { rule: "allow", item: { status: "succeeded" } },
    // The change was not shown, so it is asked about.
    {
      rule: "{ decision: modify, set: { arguments.command: echo b > b.txt } }",
      changed: { command: "echo b > b.txt" },
      item: { status: "rejected", code: "tool.rejected" },
    },
    {
      rule: "{ decision: escalate, reason: look at it }",
      decision: "always",
      item: { status: "succeeded" },
    },
  ];
  const options = {
    workspace: await workspaceWith(asksBash),
    args: ["--policy", "policy.yaml"],
  };
  const server = await ToolServer.start({ ...options, start: startProcess });
  const requestIds: string[] = [];
  for (const index of cases.keys()) {
    await server.startTurn(`run the command: ${commandOf(index)}`);
    const { requestId, metadata } = await server.question(index);
    expect(metadata.reason).toBe("look at it (rule commands)");
    requestIds.push(requestId);
  }
  server.program.kill("SIGKILL");
  await server.program.ended;

  await writeFile(
    server.path("policy.yaml"),
    policyOf(...cases.map(({ rule }, index) => ruleFor(index, rule)), allowsBash),
  );
  const again = await ToolServer.start(options);
  const newQuestions = () =>
    again.told("approval.requested").filter(({ requestId }) => !requestIds.includes(String(requestId)));
  for (const [index, { decision = "once", changed, item }] of cases.entries()) {
    const requestId = requestIds[index];
    const answer = await again.client.call("approval.respond", { requestId, decision });
    expect(answer.result).toEqual({ ok: true });
    if (changed) {
      await again.until(() => newQuestions().length === 1);
      const [{ requestId, metadata } = {}] = newQuestions();
      expect(metadata).toMatchObject({ input: changed });
      await again.client.call("approval.respond", { requestId, decision: "reject" });
    }
    await again.until(() => again.told("turn.completed")[index]);
    expect(again.items("tool_exec")[index]?.data).toMatchObject(item);
    const isRun = "status" in item && item.status === "succeeded";
    expect(await isThere(server.workspace, `${index}.txt`), commandOf(index)).toBe(isRun);
  }
  expect(await isThere(server.workspace, "b.txt")).toBe(false);
  expect(newQuestions()).toHaveLength(1);
});

describe("the policy of a server", () => {
  const audits = async (cwd: string, name = "policy.jsonl"): Promise<boolean> =>
    isThere(join(cwd, ".harness", "audit"), name);

  it("leaves no process, however its server ends, and a log below .harness", async () => {
    const cwd = await makeWorkspace();
    for (const how of ["end", "SIGTERM", "SIGINT", "SIGKILL"] as const) {
      const start = how === "SIGKILL" ? startProcess : startHarness;
      const program = start(["serve"], { cwd });
      const client = new ProtocolClient(program);
      const { result } = await client.startTurn(await client.createThread(), "read README.md");
      await eventually(() =>
        expect(client.messages.some(({ params }) => params?.turnId === result?.turnId && params?.turn)).toBe(
          true,
        ),
      );
      if (how === "end") program.endInput();
      else program.kill(how);
      await program.ended;
      await nothingRunsWith(cwd);
    }
    expect(await audits(cwd)).toBe(true);
  });
});
