import { chmod, mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { userInfo } from "node:os";
import { join } from "node:path";
import { readAuditFile, verifyAuditFile } from "@harnesskit/audit/node";
import { describe, expect, it } from "vitest";
import { eventually, makeWorkspace, startProcess } from "./support/harness.ts";
import { harness } from "./support/in-process.ts";
import { ToolServer } from "./support/tool-server.ts";

const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

const isGone = (pid: number): Promise<void> =>
  eventually(() => {
    if (isRunning(pid)) throw new RangeError(`${pid} runs`);
  });

/** A command of two processes that run until they are ended, one of them in a session of its own. */
const endless = (marker: string) =>
  `echo $$ > shell.pid; setsid sh -c 'echo $$ > own.pid; exec sleep 300' & : ${marker}; sleep 300; echo over`;

describe("the tools of harness serve", () => {
  it("run in a process of their own, and are asked about as before", async () => {
    const server = await ToolServer.start({ start: startProcess });
    const { threadId, turnId } = await server.startTurn(
      "write a.txt: hello, then edit a.txt: replace hello with goodbye, then read a.txt, " +
        "then list files, then search for goodbye, then run the command: cat a.txt",
    );
    expect((await server.question(0)).metadata).toMatchObject({
      tool: "write",
      input: { path: "a.txt", content: "hello" },
      preview: "--- /dev/null\n+++ b/a.txt\n@@ -0,0 +1,1 @@\n+hello\n\\ No newline at end of file\n",
    });
    await server.answer(0);
    const { preview } = (await server.question(1)).metadata as { preview: string };
    expect(preview).toContain("-hello\n");
    expect(preview).toContain("+goodbye\n");
    await server.answer(1);
    expect((await server.question(2)).metadata).toMatchObject({
      tool: "bash",
      input: { command: "cat a.txt" },
    });
    await server.answer(2);
    expect(await server.turnEnd(turnId)).toMatchObject({ status: "completed" });
    expect(server.told("approval.requested")).toHaveLength(3);

    const items = server.items("tool_exec");
    expect(items.map(({ data }) => [data.tool, data.status])).toEqual([
      ["write", "succeeded"],
      ["edit", "succeeded"],
      ["read", "succeeded"],
      ["glob", "succeeded"],
      ["grep", "succeeded"],
      ["bash", "succeeded"],
    ]);
    expect(items[2]?.data.output).toMatchObject({ path: "a.txt", text: "goodbye" });
    expect(items[3]?.data.output).toMatchObject({ paths: ["README.md", "a.txt"] });
    expect(items[4]?.data.output).toMatchObject({ matches: [{ path: "a.txt", line: 1, text: "goodbye" }] });
    expect(items[5]?.data.output).toEqual({ exitCode: 0, stdout: "goodbye", stderr: "" });

    const agent = await server.agentPid();
    server.program.endInput();
    expect(await server.program.ended).toMatchObject({ code: 0 });
    expect(server.complaints).toBe("");
    await isGone(agent);
    expect(await server.leftBehind()).toEqual([]);

    expect(await verifyAuditFile(server.auditFile)).toMatchObject({ ok: true });
    const calls = [];
    for await (const entry of readAuditFile(server.auditFile)) {
      if (entry.action === "tool.call") calls.push(entry);
    }
    expect(calls).toHaveLength(12);
    expect(calls.map(({ correlation_id }) => correlation_id)).toEqual(calls.map(() => threadId));
    expect(calls.map(({ causation_id }) => causation_id)).toEqual(
      items.flatMap(({ itemId }) => [itemId, itemId]),
    );
    expect(calls.at(-1)).toMatchObject({
      tool_id: "harnesskit.workspace/bash",
      actor: { type: "human", id: userInfo().username },
    });
    expect(await readFile(server.auditFile, "utf8")).not.toContain("goodbye");
  });

  it("stream what a command prints, while it runs", async () => {
    const server = await ToolServer.start();
    const { turnId } = await server.startTurn(
      "run the command: echo begun; echo trouble >&2; until [ -e go ]; do sleep 0.02; done; printf '€ end'",
    );
    await server.answer();
    const deltas = () => server.told("item.delta").map(({ delta }) => delta);
    await server.until(() => deltas().includes("begun\n") && deltas().includes("trouble\n"));
    expect(server.items("tool_exec")).toEqual([]);
    await writeFile(server.path("go"), "");
    await server.turnEnd(turnId);
    const [exec] = server.items("tool_exec");
    const logs = server.items("tool_log").map(({ data }) => data);
    expect(logs).toEqual([
      { toolItemId: exec?.itemId, stream: "stdout", text: "begun\n€ end" },
      { toolItemId: exec?.itemId, stream: "stderr", text: "trouble\n" },
    ]);
  });

  it("report a wrong input, a failed command and all of a large output; commands have no way to the core", async () => {
    const server = await ToolServer.start({ env: { OPENAI_API_KEY: "sk-test-0123456789" } });
    const { turnId } = await server.startTurn("write ../out.txt: text");
    await server.turnEnd(turnId);
    expect(server.items("tool_exec")[0]?.data).toMatchObject({
      status: "failed",
      code: "tool.outside_workspace",
    });
    expect(server.told("approval.requested")).toEqual([]);

    expect((await server.runCommand("echo out; echo err >&2; exit 3")).data).toMatchObject({
      status: "failed",
      code: "tool.failed",
      error: "the command exited with code 3",
      output: { exitCode: 3, stdout: "out\n", stderr: "err\n" },
    });

    const { stdout } = (await server.runCommand("env")).data.output as { stdout: string };
    const variables = Object.fromEntries(stdout.split("\n").map((line) => line.split(/=(.*)/s).slice(0, 2)));
    expect(variables).toMatchObject({
      PATH: process.env.PATH,
      HARNESS_LAUNCH_ID: expect.stringMatching(/^lch_/),
    });
    expect(Object.keys(variables).filter((name) => /TOKEN|KEY|SOCKET|COMMAND_PATH/.test(name))).toEqual([]);

    const { itemId, data } = await server.runCommand("seq 1 150000");
    expect(data.output).toMatchObject({ exitCode: 0, truncated: true });
    const log = server.items("tool_log").find((item) => item.data.toolItemId === itemId);
    const text = log?.data.text as string;
    const whole = Array.from({ length: 150_000 }, (_, index) => `${index + 1}\n`).join("");
    expect(text).not.toBe("");
    expect(whole.startsWith(text)).toBe(true);
    const [artifact] = server.items("artifact");
    expect(artifact?.data).toMatchObject({ sizeBytes: whole.length });
  });
});

describe("an agent that is lost", () => {
  it("leaves its call unknown and nothing running; the turn goes on, and the next call works", async () => {
    const server = await ToolServer.start();
    const { turnId } = await server.startTurn(`run the command: ${endless("x")}`);
    await server.answer();
    const pids = [Number(await server.line("shell.pid")), Number(await server.line("own.pid"))];
    process.kill(await server.agentPid(), "SIGKILL");
    expect(await server.turnEnd(turnId)).toMatchObject({ status: "completed" });
    expect(server.items("tool_exec").map(({ data }) => data)).toMatchObject([
      { tool: "bash", status: "unknown", code: "agent.lost" },
    ]);
    for (const pid of pids) await isGone(pid);
    expect((await server.runCommand("echo next")).data).toMatchObject({
      status: "succeeded",
      output: { stdout: "next\n" },
    });
    const lines = server.complaints.trim().split("\n");
    expect(lines).toEqual([
      "harness serve: the agent harnesskit.workspace has ended and is restarted (its process was ended by SIGKILL)",
      "harness serve: the agent harnesskit.workspace is ready again",
    ]);
  });

  it("is started by the next call where it had ended in good order", async () => {
    const server = await ToolServer.start();
    await server.runCommand("echo first");
    process.kill(await server.agentPid(), "SIGTERM");
    await server.program.reports(/has ended; the next call restarts it|has ended and is restarted/);
    expect((await server.runCommand("echo next")).data).toMatchObject({ output: { stdout: "next\n" } });
  });
});

describe("a server that is killed", () => {
  it("leaves neither its agent nor a command, and its call ends as unknown at the next start", async () => {
    const server = await ToolServer.start({ start: startProcess });
    const { threadId } = await server.startTurn(`run the command: ${endless("z")}`);
    await server.answer();
    const pids = [Number(await server.line("shell.pid")), Number(await server.line("own.pid"))];
    const agent = await server.agentPid();
    server.program.kill("SIGKILL");
    await server.program.ended;
    for (const pid of [...pids, agent]) await isGone(pid);

    const next = await ToolServer.start({
      start: startProcess,
      workspace: server.workspace,
      env: { XDG_STATE_HOME: server.state, TMPDIR: server.temporary },
    });
    await next.client.call("thread.subscribe", { threadId, afterSeq: 0 });
    const exec = await next.until(() => next.items("tool_exec")[0]);
    expect(exec.data).toMatchObject({ tool: "bash", status: "unknown" });
    expect((await next.runCommand("echo next", threadId)).data).toMatchObject({
      output: { stdout: "next\n" },
    });
    next.program.endInput();
    await next.program.ended;
    expect(await server.leftBehind()).toEqual([]);
    expect(await verifyAuditFile(server.auditFile)).toMatchObject({ ok: true });
  });
});

describe("the audit log of harness serve", () => {
  it("is the file that --audit names", async () => {
    const workspace = await makeWorkspace();
    await mkdir(join(workspace, "log"), { mode: 0o700 });
    const server = await ToolServer.start({ workspace, args: ["--audit", "log/calls.jsonl"] });
    await server.runCommand("echo hi");
    server.program.endInput();
    expect((await server.program.ended).code).toBe(0);
    expect(await readFile(join(workspace, "log/calls.jsonl"), "utf8")).toContain("harnesskit.workspace/bash");
    await expect(stat(server.auditFile)).rejects.toMatchObject({ code: "ENOENT" });
  });

  it("has to be there where --audit names it", async () => {
    const workspace = await makeWorkspace();
    await mkdir(join(workspace, "log"));
    await chmod(join(workspace, "log"), 0o777);
    const end = await harness("serve --audit log/calls.jsonl", { cwd: workspace });
    expect(end).toMatchObject({ code: 4, stdout: "" });
    expect(end.stderr).toContain("the audit log log/calls.jsonl cannot be used");
  });

  it("is missed loudly where nobody named one, and the tools work on", async () => {
    const workspace = await makeWorkspace({ state: "no directory" });
    const server = await ToolServer.start({ workspace, env: { XDG_STATE_HOME: join(workspace, "state") } });
    expect((await server.runCommand("echo hi")).data).toMatchObject({ status: "succeeded" });
    expect(server.complaints).toMatch(
      /^harness serve: going on without an audit log: .*\nharness serve: ENOTDIR.*\n$/,
    );
  });

  it("is left as it is where it is damaged, and another one is begun", async () => {
    const first = await ToolServer.start();
    await first.runCommand("echo hi");
    first.program.endInput();
    await first.program.ended;
    const damaged = "not a line of a log\n";
    await writeFile(first.auditFile, damaged);
    const second = await ToolServer.start({ env: { XDG_STATE_HOME: first.state } });
    await second.runCommand("echo hi");
    expect(second.complaints).toMatch(/^harness: going on in another audit log: .*\(audit_damaged\)\n$/);
    second.program.endInput();
    await second.program.ended;
    expect(await readFile(first.auditFile, "utf8")).toBe(damaged);
    const other = first.auditFile.replace("serve.jsonl", "serve-2.jsonl");
    expect(await readFile(other, "utf8")).toContain("harnesskit.workspace/bash");
  });
});
