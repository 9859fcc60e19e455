import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { binPath, makeWorkspace, nothingRunsWith, startProgram } from "./support/harness.ts";
import { harness, startHarness } from "./support/in-process.ts";
import { ProtocolClient } from "./support/protocol-client.ts";

const initialize = '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}\n';

const serve = async (options: { args?: string[]; env?: Record<string, string> } = {}) => {
  const cwd = await makeWorkspace();
  const program = startHarness(["serve", "--no-policy", ...(options.args ?? [])], {
    cwd,
    env: options.env ?? {},
  });
  return { cwd, program, client: new ProtocolClient(program) };
};

describe("harness serve", () => {
  it("answers a single piped request with exactly one line and exits 0", async () => {
    const cwd = await makeWorkspace();
    const end = await harness(["serve"], { cwd, input: initialize });
    expect(end).toMatchObject({ code: 0, stderr: "" });
    expect(end.stdout.split("\n")).toHaveLength(2);
    expect(JSON.parse(end.stdout)).toMatchObject({
      id: 1,
      result: { version: "1.0.0", capabilities: { threads: true, persistence: true } },
    });
  });

  it("makes nothing before the first thread but the log of its policy", async () => {
    const cwd = await makeWorkspace();
    await harness(["serve", "--no-policy"], { cwd, input: initialize });
    await expect(stat(join(cwd, ".harness"))).rejects.toMatchObject({ code: "ENOENT" });
    await harness(["serve"], { cwd, input: initialize });
    // A policy that had no time to begin has no log.
    expect((await readdir(join(cwd, ".harness"))).filter((name) => name !== "audit")).toEqual([]);
    expect((await stat(join(cwd, ".harness"))).mode & 0o777).toBe(0o700);
  });

  it("lets a running turn go on to its end after the input has ended", async () => {
    const { program, client } = await serve();
    const threadId = await client.createThread();
    await client.startTurn(threadId, "read README.md");
    program.endInput();
    const { code } = await program.ended;
    expect(code).toBe(0);
    expect(client.messages.at(-1)).toMatchObject({
      method: "turn.completed",
      params: { threadId, status: "completed" },
    });
  });

  it("ends with the input when a turn waits for an approval, and leaves it waiting in the log", async () => {
    const { cwd, program, client } = await serve();
    const threadId = await client.createThread();
    await client.startTurn(threadId, "run the command: echo hi");
    program.endInput();
    expect((await program.ended).code).toBe(0);
    const log = await readFile(join(cwd, ".harness/threads", threadId, "events.jsonl"), "utf8");
    expect(JSON.parse(log.trim().split("\n").at(-1) ?? "")).toMatchObject({ type: "approval.requested" });
  });

  it("offers agent profiles: ask has only the tools that read", async () => {
    const { cwd, client } = await serve();
    const threadId = await client.createThread();
    await client.startTurn(threadId, "write hello.txt: hi", { agent: "ask" });
    await client.notified("turn.completed");
    await expect(stat(join(cwd, "hello.txt"))).rejects.toMatchObject({ code: "ENOENT" });
    expect(client.messages.some(({ method }) => method === "approval.requested")).toBe(false);
    const unknown = await client.startTurn(threadId, "read README.md", { agent: "nobody" });
    expect(unknown.error).toMatchObject({ code: -32602, data: { agents: ["code", "ask"] } });
  });

  it.each([
    ["an unknown provider", { providerID: "acme", modelID: "m" }, "model.unknown"],
    ["a missing key", { providerID: "anthropic", modelID: "m" }, "model.missing_key"],
  ])("refuses %s with -32602 and says why in data", async (_, model, reason) => {
    const { client } = await serve();
    const threadId = await client.createThread();
    const { error } = await client.startTurn(threadId, "read README.md", { model });
    expect(error).toMatchObject({ code: -32602, data: { reason } });
  });

  it("takes the model of --model where a turn names none", async () => {
    const { client } = await serve({ args: ["--model", "openai:gpt"] });
    const threadId = await client.createThread();
    const { error } = await client.startTurn(threadId, "read README.md");
    expect(error).toMatchObject({ code: -32602, data: { reason: "model.missing_key" } });
  });

  it.each(["SIGTERM", "SIGINT", "SIGHUP"] as const)(
    "ends in order on %s: the turn is closed in the log",
    async (signal) => {
      const { cwd, program, client } = await serve();
      const threadId = await client.createThread();
      const marker = `${cwd}/marker`;
      await client.startTurn(threadId, `run the command: sleep 300; true ${marker}`);
      const { params } = await client.notified("approval.requested");
      await client.call("approval.respond", { requestId: params?.requestId, decision: "once" });
      await client.notified("item.completed");
      program.kill(signal);
      expect(await program.ended).toMatchObject({ code: signal === "SIGINT" ? 130 : 0, signal: null });
      const log = await readFile(join(cwd, ".harness/threads", threadId, "events.jsonl"), "utf8");
      expect(JSON.parse(log.trim().split("\n").at(-1) ?? "")).toMatchObject({
        type: "turn.error",
        data: { code: "server_closed" },
      });
      await nothingRunsWith(marker);
    },
  );

  it("stops what runs and ends when its parent is gone", async () => {
    const cwd = await makeWorkspace();
    // The parent keeps both pipes open to this test, so that only its own end can tell.
    const parent = startProgram(
      "sh",
      ["-c", '"$0" "$1" serve --cwd "$2"; exit 7', process.execPath, binPath, cwd],
      {
        cwd,
      },
    );
    const client = new ProtocolClient(parent);
    const threadId = await client.createThread();
    await client.startTurn(threadId, `run the command: sleep 300; true ${cwd}/marker`);
    const { params } = await client.notified("approval.requested");
    await client.call("approval.respond", { requestId: params?.requestId, decision: "once" });
    parent.kill("SIGKILL");
    await nothingRunsWith(cwd);
    const log = await readFile(join(cwd, ".harness/threads", threadId, "events.jsonl"), "utf8");
    expect(JSON.parse(log.trim().split("\n").at(-1) ?? "")).toMatchObject({ type: "turn.error" });
  });

  it.each([
    [["--model", "nonsense"], "a model is written as one of"],
    [["--cwd", "/does/not/exist"], "does not exist"],
  ])("refuses %s with exit code 2", async (args, text) => {
    const cwd = await makeWorkspace();
    const end = await harness(["serve", ...args], { cwd });
    expect(end).toMatchObject({ code: 2, stdout: "" });
    expect(end.stderr).toContain(text);
  });
});
