import { once } from "node:events";
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { stripVTControlCharacters } from "node:util";
import { superviseTools } from "@harnesskit/ahp-client/ai-sdk";
import type { ApprovalRecord } from "@harnesskit/approvals";
import { tool } from "ai";
import { describe, expect, it, onTestFinished } from "vitest";
import * as z from "zod";
import { hasPython } from "../../../test-kit/python.ts";
import { eventually, jsonLines, makeWorkspace, startProgram } from "./support/harness.ts";
import { agentOf, answer, pendingOf, startHub } from "./support/hub.ts";
import { harness, startAtTerminal, startHarness } from "./support/in-process.ts";

const pythonAgent = fileURLToPath(new URL("../../../conformance/peers/ahp_agent.py", import.meta.url));

describe("harness hub", () => {
  it("names the agents whose hooks it answers to a hook of another name", async () => {
    const { url } = await startHub(await makeWorkspace());
    const answer = await fetch(`${url}/hooks/claude`, { method: "POST", body: "{}" });
    expect([answer.status, await answer.text()]).toEqual([
      404,
      expect.stringContaining("/hooks/claude-code"),
    ]);
  });

  it("judges agents of different kinds in one inbox and one timeline", async () => {
    const cwd = await makeWorkspace();
    const { env, url, place, client } = await startHub(cwd);

    // harness run finds the hub, shows the question, and says who answered it.
    const running = startHarness("run 'run the command: echo hi > out.txt'", { cwd, env, input: "" });
    const question = await pendingOf(client, "harness");
    expect(question.subject).toMatchObject({ tool: "bash", input: { command: "echo hi > out.txt" } });
    await running.reports(/bash: run this command/);
    expect(existsSync(join(cwd, "out.txt"))).toBe(false);
    await answer(client, question);
    const { code, stderr } = await running.ended;
    expect([code, stderr]).toEqual([0, expect.stringContaining("the hub judges")]);
    expect(stderr).toMatch(/approved by \S+ \(page\)/);
    expect(await readFile(join(cwd, "out.txt"), "utf8")).toBe("hi\n");

    // So does a run in a thread that is there.
    const [, thread = ""] = /harness run --thread (ses_\w+)/.exec(stderr) ?? [];
    const further = startHarness(["run", "--thread", thread, "run the command: echo more > more.txt"], {
      ...{ cwd, env, input: "" },
    });
    const next = await pendingOf(client, "harness");
    await further.reports(/bash: run this command/);
    await answer(client, next);
    expect((await further.ended).code).toBe(0);

    // An application of the AI SDK.
    const ahp = await agentOf(place, "ai-app", "app-1");
    const deploy = tool({
      description: "deploys",
      inputSchema: z.object({ to: z.string() }),
      execute: async ({ to }) => `deployed to ${to}`,
    });
    const { deploy: supervised } = superviseTools({ deploy }, ahp);
    const deploying = supervised.execute?.({ to: "staging" }, { toolCallId: "call_1", messages: [] });
    await answer(client, await pendingOf(client, "ai-app"));
    expect(await deploying).toBe("deployed to staging");

    // An agent in Python's standard library, over HTTP.
    const kinds = ["harness", "harness", "ai-app"];
    if (hasPython) {
      const token = (await readFile(place.tokenFile, "utf8")).trim();
      const python = startProgram("python3", ["-SB", pythonAgent], {
        cwd,
        env: { CONFORMANCE_ENDPOINT: `${url}/ahp`, CONFORMANCE_TOKEN: token },
      });
      const write = (id: number, operation: string, params: object) =>
        python.write(`${JSON.stringify({ id, do: operation, params })}\n`);
      write(1, "connect", {});
      await python.sees(/"id": 1, "result"/);
      const payload = { tool_name: "bash", arguments: { command: "touch made.txt" } };
      write(2, "decide", { event_type: "pre_action", payload, timeout_ms: 30_000 });
      const { records } = await eventually(async () => {
        const found = await client.call("inbox.list", { status: "pending" });
        if (found.records.length === 0) throw new RangeError("nothing is pending");
        return found;
      });
      const [asked] = records as [ApprovalRecord];
      kinds.push(asked.origin.agent);
      await answer(client, asked);
      await python.sees(/"id": 2, "result": {"decision": {"decision": "allow"/);
      write(3, "notify", { event_type: "post_action", payload: { ...payload, exit_code: 0 } });
      const rowsOf = async () =>
        (await client.call("timeline.page", { filter: { state: "done" } })).rows.map(({ agent }) => agent);
      await expect.poll(rowsOf, { timeout: 15_000 }).toContain(asked.origin.agent);
      python.endInput();
      await python.ended;
    }

    // The shipped policy decides what happened as it did.
    const { text } = (await client.call("policy.get")).policy;
    expect(await client.call("policy.backtest", { text })).toMatchObject({ changed: 0 });

    const { rows } = await client.call("timeline.page", { filter: { state: "done" } });
    const done = rows.filter(({ approval }) => approval !== undefined);
    expect(done.map(({ agent }) => agent).sort()).toEqual([...kinds].sort());
    for (const { approval } of done)
      expect(approval).toMatchObject({ status: "approved", by: expect.stringMatching(/ \(page\)$/) });
    const { agents } = await client.call("agents.list");
    expect(agents.map(({ agent }) => agent)).toEqual(expect.arrayContaining(kinds));
  }, 60_000);

  it("tells a run that a human refused, and not that a policy blocked; its policy has one name", async () => {
    const cwd = await makeWorkspace();
    const { env, client } = await startHub(cwd);
    const running = startHarness("run 'run the command: echo it works'", { cwd, env, input: "" });
    const question = await pendingOf(client, "harness");
    expect(question.rule).toMatchObject({
      id: "commands",
      reason: expect.stringContaining("asks before every command"),
    });
    await answer(client, question, "reject", "not now");
    const { code, stdout, stderr } = await running.ended;
    expect(code).toBe(3);
    expect(stderr).toMatch(/✗ refused: This call was rejected by \S+ \(page\): not now/);
    expect(stdout).toMatch(/was refused/);
    expect(stderr).toContain("⊘ ended: 1 call did not run: refused");
    expect(stderr).not.toMatch(/blocked (?:by|:)/i);
    const blocked = await harness(["run", "run the command: rm -rf /"], { cwd, env, input: "" });
    expect(blocked.code).toBe(3);
    expect(blocked.stderr.replace(/\s+/g, " ")).toContain("start the hub with it: harness hub --policy FILE");
    const calm = await harness("run --json hello", { cwd, env, input: "" });
    expect(jsonLines(calm.stdout).at(-1)?.data).toMatchObject({
      policy: { by: "policy coding-agent", allowed: 0 },
    });
  }, 60_000);

  it("judges the calls of harness chat, which says who answered; --no-hub asks at the terminal", async () => {
    const cwd = await makeWorkspace();
    const { env, client } = await startHub(cwd);
    const args = ["chat", "--session", "s1"];
    const running = startHarness(args, { cwd, env, input: "write notes.txt: milk\nwrite more.txt: tea\n" });
    const first = await pendingOf(client, "harness");
    expect(first).toMatchObject({ origin: { session: "s1" }, subject: { tool: "write" } });
    await running.sees(/waits in the hub: its page, or harness inbox/);
    expect(existsSync(join(cwd, "notes.txt"))).toBe(false);
    await answer(client, first);
    await eventually(() => expect(existsSync(join(cwd, "notes.txt"))).toBe(true));
    await answer(client, await pendingOf(client, "harness"), "reject");
    const { code, stdout, stderr } = await running.ended;
    expect([code, stderr]).toEqual([3, expect.stringContaining("harness chat: the hub at ")]);
    expect(stdout).toMatch(/approved by \S+ \(page\)/);
    expect(stdout).toMatch(/✗ refused: This call was rejected by \S+ \(page\)/);
    expect(existsSync(join(cwd, "more.txt"))).toBe(false);
    await eventually(async () => {
      const { rows } = await client.call("timeline.page", { filter: { tool: "write" } });
      expect(rows.map(({ state }) => state).sort()).toEqual(["done", "refused"]);
    });
    const alone = await harness([...args, "--no-hub"], { cwd, env, input: "write more.txt: tea\n" });
    expect([alone.code, alone.stderr]).toEqual([3, ""]);
    expect(alone.stdout).toContain("/approve ");
    const missing = await harness([...args, "--hub", join(cwd, "none")], { cwd, env });
    expect([missing.code, missing.stderr]).toEqual([4, expect.stringContaining("no hub runs at")]);
  }, 60_000);

  it("lets the user of harness chat answer where they type; Ctrl-C withdraws the question", async () => {
    const cwd = await makeWorkspace();
    const { env, client } = await startHub(cwd);
    const program = startAtTerminal("chat", { cwd, env });
    await program.sees(/› /);
    program.write('edit README.md: replace "small" with "big"\r');
    await program.sees(/Allow it\?/);
    const asked = await pendingOf(client, "harness");
    expect(asked.origin.directory).toBe(cwd);
    expect(asked.subject.preview).toMatch(/^@@ -\d+/m);
    expect(stripVTControlCharacters(program.stdout)).toMatch(
      /│ @@ -\d[\s\S]*│ -A small demo\.[\s\S]*in [\s\S]*waits in the hub/,
    );
    program.write("\u0003");
    await program.sees(/○ cancelled/);
    await eventually(async () =>
      expect((await client.call("inbox.get", { id: asked.id })).record.status).toBe("withdrawn"),
    );
    const before = program.stdout.length;
    program.write('edit README.md: replace "small" with "big"\r');
    await eventually(() => expect(program.stdout.slice(before)).toMatch(/Allow it\?/));
    program.write("\u001b[A\u001b[A\u001b[A\r");
    await program.sees(/approved by \S+ \(harness chat\)/);
    await eventually(async () =>
      expect(await readFile(join(cwd, "README.md"), "utf8")).toContain("A big demo."),
    );
    program.write("/quit\r");
    expect((await program.ended).code).toBe(0);
    expect(stripVTControlCharacters(program.stdout.slice(-400))).not.toContain("waiting for you, in the hub");
  }, 60_000);

  it("asks what comes while a reason is written behind the question that it is about", async () => {
    const cwd = await makeWorkspace();
    const { env, place, client } = await startHub(cwd);
    const program = startAtTerminal("chat", { cwd, env });
    await program.sees(/› /);
    program.write("run the command: echo one\r");
    await program.sees(/Allow it\?/);
    const { origin } = await pendingOf(client, "harness");
    program.write("\u001b[B\r");
    await program.sees(/Why not\?/);
    const before = program.stdout.length;
    const other = await agentOf(place, "other", origin.session);
    const deciding = other.decide("pre_action", {
      ...{ action_type: "tool_call", tool_name: "bash", target: null, arguments: { command: "echo two" } },
    });
    await pendingOf(client, "other");
    program.write("not now\r");
    const shown = () => stripVTControlCharacters(program.stdout.slice(before));
    await eventually(() => expect(shown()).toMatch(/echo two[\s\S]*Allow it\?/));
    program.write("y");
    expect((await deciding).decision).toMatchObject({ decision: "allow" });
    program.write("/quit\r");
    expect((await program.ended).code).toBe(3);
  }, 60_000);

  it("withdraws the question about a prompt that is cancelled, in harness chat and run", async () => {
    const cwd = await makeWorkspace();
    const policy = join(cwd, "policy.yaml");
    await writeFile(
      policy,
      "version: 1\nname: prompts\ndefaults:\n  pre_prompt: { decision: escalate, reason: it is a prompt }\nrules: []\n",
    );
    const { env, client } = await startHub(cwd, ["--policy", policy]);
    const statusOf = async (id: string) => (await client.call("inbox.get", { id })).record.status;
    const becomes = (id: string, status: string) =>
      eventually(async () => expect(await statusOf(id)).toBe(status));
    const chat = startAtTerminal("chat", { cwd, env });
    await chat.sees(/› /);
    chat.write("hello there\r");
    const first = await pendingOf(client, "harness");
    expect(first.subject).toMatchObject({ tool: "prompt", input: { text: "hello there" } });
    chat.write("\u0003");
    await becomes(first.id, "withdrawn");
    await chat.sees(/○ cancelled/);
    // Said again, it is a new question.
    chat.write("hello there\r");
    const second = await pendingOf(client, "harness");
    await answer(client, second);
    await becomes(second.id, "approved");
    chat.write("/quit\r");
    expect((await chat.ended).code).toBe(0);
    const running = startAtTerminal("run 'hello there'", { cwd, env });
    const third = await pendingOf(client, "harness");
    running.write("\u0003");
    await becomes(third.id, "withdrawn");
    expect((await running.ended).code).toBe(130);
    const { rows } = await client.call("timeline.page", { filter: { state: "refused" } });
    expect(rows.map(({ outcome }) => outcome)).toEqual(Array(2).fill("the question was withdrawn"));
  }, 60_000);

  it("names a port that another program has, and writes its link whatever opens the browser", async () => {
    const cwd = await makeWorkspace();
    const other = createServer().listen(0, "127.0.0.1");
    onTestFinished(() => void other.close());
    await once(other, "listening");
    const { port } = other.address() as AddressInfo;
    const env = { XDG_STATE_HOME: join(cwd, "state"), BROWSER: "true" };
    const taken = await harness(["hub", "--port", String(port)], { cwd, env });
    expect([taken.code, taken.stderr]).toEqual([
      4,
      expect.stringContaining(`--port: another program has this port: 127.0.0.1:${port}`),
    ]);
    expect(taken.stderr).not.toContain("another hub");
    const hub = startHarness("hub --open", { cwd, env });
    await hub.reports(/page: http:\/\/127\.0\.0\.1:\d+\/#ticket=/);
    await hub.reports(/a browser was started with this link; if none comes up/);
  }, 60_000);

  it("keeps its questions over an end, and harness inbox lists and answers them", async () => {
    const cwd = await makeWorkspace();
    const first = await startHub(cwd);
    const { env } = first;
    const nothing = await harness("inbox", { cwd, env });
    expect([nothing.code, nothing.stdout]).toEqual([0, "Nothing waits for you.\n"]);
    const twice = await harness("hub", { cwd, env });
    expect([twice.code, twice.stderr]).toEqual([4, expect.stringContaining("another hub uses")]);
    const ahp = await agentOf(first.place, "bot");
    const payload = { tool_name: "deploy", tool_call_id: "c1", arguments: { to: "production" } };
    await ahp.decide("pre_action", payload, { metadata: { wait_ms: 0 } });
    await ahp.close();
    const { id } = await pendingOf(first.client, "bot");
    await first.client.close();
    first.program.kill("SIGTERM");
    expect((await first.program.ended).code).toBe(0);
    const gone = await harness("inbox", { cwd, env });
    expect([gone.code, gone.stderr]).toEqual([4, expect.stringContaining("harness hub --open")]);

    const second = await startHub(cwd);
    const listed = await harness("inbox", { cwd, env });
    expect(listed.stdout).toContain("? deploy: call it with this input");
    expect(listed.stdout).toContain('"to": "production"');
    expect(listed.stdout).toContain(id);
    const rejected = await harness(["inbox", "--reject", id, "--reason", "not today"], { cwd, env });
    expect([rejected.code, rejected.stdout]).toEqual([0, `rejected ${id}\n`]);
    const unknown = await harness("inbox --approve apr_0", { cwd, env });
    expect([unknown.code, unknown.stderr]).toEqual([
      1,
      "harness: There is no approval apr_0\n  See what there is: harness inbox\n",
    ]);
    const late = await harness(["inbox", "--approve", id], { cwd, env });
    expect([late.code, late.stderr]).toEqual([
      3,
      expect.stringContaining("it was answered before: rejected by"),
    ]);
    const again = await agentOf(second.place, "bot");
    const { decision } = await again.decide("pre_action", payload, { metadata: { wait_ms: 0 } });
    expect(decision).toMatchObject({
      decision: "block",
      reason: expect.stringMatching(/\(harness inbox\): not today$/),
    });
  }, 60_000);
});
