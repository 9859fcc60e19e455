import { once } from "node:events";
import { readFile, stat } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { jsonLines, makeWorkspace, nothingRunsWith } from "./support/harness.ts";
import { harness, startHarness } from "./support/in-process.ts";
import { ProtocolClient } from "./support/protocol-client.ts";

const command = "run the command: echo made > made.txt && echo out";
const isMade = (cwd: string) =>
  stat(join(cwd, "made.txt")).then(
    () => true,
    () => false,
  );
const threadIdIn = (output: string): string => /thread (ses_[0-9a-f]{32})/.exec(output)?.[1] ?? "none";

/** A provider that answers every request with this status. */
const brokenProvider = async (status: number): Promise<string> => {
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(status, { "content-type": "application/json" }).end('{"error":{"message":"no"}}');
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
  });
  return `openai-compatible:http://127.0.0.1:${(server.address() as AddressInfo).port}/v1#m`;
};
describe("harness run", () => {
  it("writes the answer alone to standard output, tells the turn as a timeline beside it, and in two lines how it ended and how to go on", async () => {
    const cwd = await makeWorkspace();
    const { code, stdout, stderr } = await harness(["run", "read README.md"], { cwd });
    expect(code).toBe(0);
    expect(stderr).toContain("● read README.md, 3 lines ✓ (rule reads)\n");
    expect(stdout).toMatch(/^`README\.md` has 3 lines:\n[\s\S]*A small demo\./);
    expect(stdout).not.toMatch(/●|✓|thread ses_|I read/);
    expect(stderr).not.toContain("has 3 lines");
    expect(stderr).toMatch(
      /\n✓ done · .+ · \d+ tokens in · \d+ tokens out\nto go on: harness run --thread ses_\w+ "PROMPT"\n$/,
    );
    const threadId = threadIdIn(stderr);
    expect((await stat(join(cwd, ".harness/threads", threadId, "events.jsonl"))).size).toBeGreaterThan(0);
    expect(stderr).not.toContain("\u001b");
    await nothingRunsWith(cwd);
  });

  it("--approve once allows what is asked, and shows its output", async () => {
    const cwd = await makeWorkspace();
    const { code, stderr } = await harness(["run", "--approve", "once", command], { cwd });
    expect(code).toBe(0);
    expect(stderr).toContain("  ? approved once by harness run --approve once\n");
    expect(stderr).toContain("  │ out\n  ✓ (escalated: rule commands) · 1 line\n");
    expect(await isMade(cwd)).toBe(true);
  });

  it("--pass-env lets commands see named variables, and says which is not set", async () => {
    const cwd = await makeWorkspace();
    const passed = ["run", "--approve", "once", "--pass-env", "MY_PROXY,NOT_SET", "run the command: env"];
    const { code, stderr } = await harness(passed, { cwd, env: { MY_PROXY: "here" } });
    expect(code).toBe(0);
    expect(stderr).toContain("--pass-env: NOT_SET is not set, so no command sees it\n");
    expect(stderr).toContain("MY_PROXY=here");
    expect(stderr).not.toContain("HARNESS_PASSED_VARIABLES");
    const invalid = await harness(["run", "--pass-env", "MY PROXY", "hello"], { cwd });
    expect(invalid.code).toBe(2);
    expect(invalid.stderr).toContain("--pass-env");
  });

  it("--approve reject refuses it and exits 3", async () => {
    const cwd = await makeWorkspace();
    const { code, stderr } = await harness(["run", "--no-policy", "--approve", "reject", command], { cwd });
    expect(code).toBe(3);
    expect(stderr).toContain("✗ refused: ");
    expect(stderr).not.toContain("no terminal");
    expect(await isMade(cwd)).toBe(false);
  });

  it.each([[[]], [["--approve", "ask"]]])(
    "without a terminal %s refuses, says so and exits 3",
    async (args) => {
      const cwd = await makeWorkspace();
      const { code, stderr } = await harness(["run", "--no-policy", ...args, command], { cwd });
      expect(code).toBe(3);
      expect(stderr).toContain("there is no terminal to ask in; to approve: --approve once");
      expect(await isMade(cwd)).toBe(false);
    },
  );

  it("goes on with a thread, whose whole history a later server gives", async () => {
    const cwd = await makeWorkspace();
    const first = await harness(["run", "--no-policy", "read README.md"], { cwd });
    const threadId = threadIdIn(first.stderr);
    const second = await harness(["run", "--no-policy", "--thread", threadId, "list files"], { cwd });
    expect(second.code).toBe(0);
    expect(threadIdIn(second.stderr)).toBe(threadId);
    const client = new ProtocolClient(startHarness(["serve", "--no-policy"], { cwd }));
    const { result } = await client.call("thread.get", { threadId });
    const types = ((result?.events ?? []) as { type: string }[]).map(({ type }) => type);
    expect(types.filter((type) => type === "turn.completed")).toHaveLength(2);
    expect(result?.thread).toMatchObject({ title: "read README.md" });
  });

  it("names a thread after the first line of the prompt, bounded", async () => {
    const cwd = await makeWorkspace();
    await harness(["run", "--no-policy", `list files ${"x".repeat(100)}\nsecond line`], { cwd });
    const { stdout } = await harness(["threads", "list", "--json"], { cwd });
    const { title } = JSON.parse(stdout).threads[0];
    expect(title).toHaveLength(80);
    expect(title).toMatch(/^list files x+…$/);
  });

  it("--json writes one event a line and a result, nothing else", async () => {
    const cwd = await makeWorkspace();
    const { code, stdout } = await harness(["run", "--no-policy", "--json", "--approve", "once", command], {
      cwd,
    });
    expect(code).toBe(0);
    const lines = jsonLines(stdout);
    expect(lines[0]).toMatchObject({ type: "turn.started" });
    expect(lines.at(-2)).toMatchObject({ type: "turn.completed", data: { status: "completed" } });
    const data = lines.at(-1)?.data ?? {};
    expect(lines.at(-1)).toMatchObject({
      type: "result",
      data: { status: "completed", exitCode: 0, usage: { inputTokens: expect.any(Number) } },
    });
    expect(data.log).toBe(`${cwd}/.harness/threads/${data.threadId}/events.jsonl`);
  });

  it("--json tells a failure before the turn as a result too", async () => {
    const cwd = await makeWorkspace();
    const { code, stdout, stderr } = await harness(
      ["run", "--no-policy", "--json", "--agent", "nobody", "list files"],
      {
        cwd,
      },
    );
    expect(code).toBe(2);
    expect(jsonLines(stdout)).toEqual([
      {
        type: "result",
        data: {
          threadId: null,
          turnId: null,
          status: "error",
          code: "usage",
          error: expect.any(String),
          exitCode: 2,
        },
      },
    ]);
    expect(stderr).toContain("Use --agent with one of: code, ask");
  });

  it("--json counts the calls that did not run, where a completed turn ends with 3", async () => {
    const cwd = await makeWorkspace();
    const args = ["run", "--no-policy", "--approve", "reject", "--json", "run the command: ls"];
    const { code, stdout } = await harness(args, { cwd });
    expect(code).toBe(3);
    expect(jsonLines(stdout).at(-1)?.data).toMatchObject({
      ...{ status: "completed", exitCode: 3, refusedCalls: 1 },
    });
  });

  describe("exit codes", () => {
    it("1 for a thread that does not exist", async () => {
      const cwd = await makeWorkspace();
      const end = await harness(["run", "--no-policy", "--thread", "ses_00000000", "list files"], { cwd });
      expect(end).toMatchObject({ code: 1, stdout: "" });
      expect(end.stderr).toContain("There is no thread ses_00000000");
      expect(end.stderr).toContain("harness threads list");
    });

    it("1 for a thread that another server writes", async () => {
      const cwd = await makeWorkspace();
      const client = new ProtocolClient(startHarness(["serve", "--no-policy"], { cwd }));
      const threadId = await client.createThread();
      const end = await harness(["run", "--no-policy", "--thread", threadId, "list files"], { cwd });
      expect(end.code).toBe(1);
      expect(end.stderr).toContain("The thread is in use");
    });

    it("2 for an agent that does not exist, naming those that do", async () => {
      const cwd = await makeWorkspace();
      const end = await harness(["run", "--no-policy", "--agent", "nobody", "list files"], { cwd });
      expect(end.code).toBe(2);
      expect(end.stderr).toContain("There is no agent nobody\n  Use --agent with one of: code, ask");
      expect((await harness("threads", { cwd })).stdout).not.toContain("list files");
    });

    it("4 for a model without its key", async () => {
      const cwd = await makeWorkspace();
      const end = await harness(["run", "--no-policy", "--model", "anthropic:m", "list files"], { cwd });
      expect(end.code).toBe(4);
      expect(end.stderr).toContain("ANTHROPIC_API_KEY is not set");
      expect((await harness("threads", { cwd })).stdout).not.toContain("list files");
    });

    it.each([
      [404, 4, "unavailable", "does not know this model"],
      [401, 3, "refused", "refused the credentials"],
      [400, 1, "failed", "refused the request"],
    ])("for a provider that answers %i: %i", async (status, expected, word, text) => {
      const cwd = await makeWorkspace();
      const end = await harness(
        ["run", "--no-policy", "--model", await brokenProvider(status), "list files"],
        { cwd },
      );
      expect(end.code).toBe(expected);
      expect(end.stderr).toContain(`✗ ${word}: The model's provider`);
      expect(end.stderr).toContain(text);
    });

    it("4 when the process of the tools dies in the turn, which says that the call may have run", async () => {
      const cwd = await makeWorkspace();
      const args = ["run", "--no-policy", "--approve", "once", "run the command: kill -9 $PPID; sleep 60"];
      const end = await startHarness(args, { cwd }).ended;
      expect(end.code).toBe(4);
      expect(end.stderr).toContain("The process that ran the tool is gone");
    });

    it("shows causes only with HARNESS_DEBUG", async () => {
      const cwd = await makeWorkspace();
      const args = ["run", "--no-policy", "--thread", "ses_00000000", "list files"];
      const quiet = await harness(args, { cwd });
      const loud = await harness(args, { cwd, env: { HARNESS_DEBUG: "1" } });
      expect(quiet.stderr).not.toContain("caused by");
      expect(loud.stderr).toContain("caused by ProtocolError: Thread not found");
    });
  });

  it("passes keys on to the server and never shows them", async () => {
    const cwd = await makeWorkspace();
    const model = await brokenProvider(401);
    const env = { OPENAI_COMPATIBLE_API_KEY: "sk-secret-value", HARNESS_DEBUG: "1" };
    const end = await harness(["run", "--no-policy", "--model", model, "list files"], { cwd, env });
    const log = await readFile(join(cwd, ".harness/threads", threadIdIn(end.stderr), "events.jsonl"), "utf8");
    expect(`${end.stdout}${end.stderr}${log}`).not.toContain("sk-secret-value");
  });
});
