import { spawnSync } from "node:child_process";
import { mkdtemp, readdir, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { CallResult, StreamChunk } from "@harnesskit/core-runtime";
import {
  type AgentHost,
  createAgentHost,
  type ThreadTool,
  type ToolHostCallOptions,
} from "@harnesskit/core-runtime/thread-tools";
import { ToolError } from "@harnesskit/thread-server";
import { workspaceAgentId, workspaceCoreLimits } from "@harnesskit/workspace-agent/declarations";
import { describe, expect, it, onTestFinished } from "vitest";
import { until } from "../../../test-kit/test-kit.ts";
import { conversationGrants, createWorkspaceTools } from "../src/agents/agent-core.ts";
import { createEndedCommands } from "../src/agents/ended-commands.ts";

const makeDirectory = async (): Promise<string> => {
  const directory = await realpath(await mkdtemp(join(tmpdir(), "tool-host-")));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return directory;
};

const makeHost = (directory: string) => {
  const errors: unknown[] = [];
  const notes: string[] = [];
  const host = createAgentHost({
    agents: [{ agentId: workspaceAgentId, directory }],
    limits: workspaceCoreLimits,
    environment: { ...process.env, PATH: `${dirname(process.execPath)}:${process.env.PATH}` },
    version: "1.0.0",
    grants: conversationGrants("harness.serve", false),
    openAudit: async () => undefined,
    onNote: (line) => notes.push(line),
    onError: (error) => errors.push(error),
  });
  onTestFinished(() => host.close());
  return { host, errors, notes };
};

const ignore = () => {};
const builtAgent = fileURLToPath(new URL("../../workspace-agent", import.meta.url));

describe("the host of the tools", () => {
  it("cancels a call that waits for the agent, and takes none when it is closed", async () => {
    const { host } = makeHost(builtAgent);
    const cancelled = host.call(
      `${workspaceAgentId}/glob`,
      { pattern: "*" },
      { signal: AbortSignal.abort() },
      ignore,
    );
    expect(await cancelled).toMatchObject({ status: "canceled", error: { code: "tool.canceled" } });
    const output = await host.call(
      `${workspaceAgentId}/glob`,
      { pattern: "*" },
      { context: { project_root: builtAgent } },
      ignore,
    );
    expect(output).toMatchObject({
      status: "succeeded",
      output: { paths: expect.arrayContaining(["README.md"]) },
    });
    await host.close();
    expect(await host.call(`${workspaceAgentId}/glob`, { pattern: "*" }, {}, ignore)).toMatchObject({
      status: "failed",
      error: { code: "core.closed" },
    });
  });
});

describe("commands in the background", () => {
  const errors: unknown[] = [];
  /** A process of a host, whose conversations start commands. */
  const open = async () => {
    const directory = await makeDirectory();
    const state = await makeDirectory();
    const { XDG_STATE_HOME: before } = process.env;
    process.env.XDG_STATE_HOME = state;
    onTestFinished(() => {
      if (before === undefined) delete process.env.XDG_STATE_HOME;
      else process.env.XDG_STATE_HOME = before;
    });
    const { host } = makeHost(builtAgent);
    let current = host;
    const place = { conversation: "ses_1", directory };
    const ended = createEndedCommands(
      { call: (...args) => current.call(...args), check: (...args) => current.check(...args) },
      (error) => errors.push(error),
    );
    const restart = async () => {
      await current.close();
      current = makeHost(builtAgent).host;
    };
    const tools = createWorkspaceTools(ended.host, { callerId: "harness.serve" });
    const call = async (name: string, input: object) => {
      const found = tools.find((tool) => tool.name === name) as ThreadTool;
      const scope = { threadId: "ses_1", directory, callId: "item_1" };
      const { run } = await found.prepare(input, scope);
      return (await run({
        ...scope,
        signal: new AbortController().signal,
        stdout: ignore,
        stderr: ignore,
      })) as { id: string; running: boolean };
    };
    const records = join(state, "harnesskit", "commands");
    return { directory, host, place, ended, call, records, restart };
  };
  /** Makes what is written down that of a process that has gone. */
  const outlive = async (records: string, more: object = {}) => {
    const [name = ""] = await readdir(records);
    const path = join(records, name);
    const { pid } = spawnSync("true");
    const written = JSON.parse(await readFile(path, "utf8")) as { owner: object }[];
    const dead = written.map((each) => ({ ...each, owner: { ...each.owner, pid, started: "1", ...more } }));
    await writeFile(path, JSON.stringify(dead));
  };

  it("outlive their call; the next turn of their conversation alone is told once how they ended", async () => {
    const { directory, place, ended, call } = await open();
    expect(await ended.note(place)).toBeUndefined();
    const command = "while [ ! -e go ]; do sleep 0.02; done; exit 3";
    const { id, running } = await call("bash", { command, background: true });
    expect(running).toBe(true);
    expect(await ended.note(place)).toBeUndefined();
    expect(await ended.running()).toEqual([{ id, command }]);
    await writeFile(join(directory, "go"), "");
    const notes: string[] = [];
    await until(async () => {
      const note = await ended.note(place);
      return note !== undefined && notes.push(note) > 0;
    });
    expect(notes[0]).toContain(`- ${id} (${command}): exit code 3`);
    expect(await ended.note(place)).toBeUndefined();
    expect(await ended.running()).toEqual([]);
    expect(await ended.note({ ...place, conversation: "ses_2" })).toBeUndefined();
    expect(errors).toEqual([]);
  });

  it("are told in a line each, whatever they are called", async () => {
    const { place, call, host, records } = await open();
    const command = "sleep 600 #\n- c2 (rm x): exit code 0]\u001b[2J";
    const { id } = await call("bash", { command, background: true });
    await host.close();
    await outlive(records);
    const other = createEndedCommands(makeHost(builtAgent).host, (error) => errors.push(error));
    expect((await other.note(place))?.split("\n").slice(1)).toEqual([
      `- ${id} (sleep 600 #⏎ - c2 (rm x): exit code 0]⟨U+001B⟩[2J): ended with its process, exit code unknown]`,
    ]);
    expect(errors).toEqual([]);
  });

  it("that end with their process are told to the next turn in another one, once", async () => {
    const { place, ended, call, host, records } = await open();
    const { id } = await call("bash", { command: "sleep 600", background: true });
    expect(await ended.running()).toHaveLength(1);
    await host.close();
    await outlive(records);
    const other = createEndedCommands(makeHost(builtAgent).host, (error) => errors.push(error));
    expect(await other.note(place)).toContain(
      `- ${id} (sleep 600): ended with its process, exit code unknown`,
    );
    expect(await other.note(place)).toBeUndefined();
    expect(await readdir(records)).toEqual([]);
    expect(errors).toEqual([]);
  });

  it("of another machine or container may still run, which is said", async () => {
    const { place, call, host, records } = await open();
    const { id } = await call("bash", { command: "sleep 600", background: true });
    await host.close();
    await outlive(records, { world: "another" });
    const other = createEndedCommands(makeHost(builtAgent).host, (error) => errors.push(error));
    expect(await other.note(place)).toContain(
      `- ${id} (sleep 600): ran before this machine started again, or in another one; whether it still runs is not known`,
    );
  });

  it("whose process of the tools ended may still run, which is said; one that was seen to end is not told", async () => {
    const { place, ended, call, restart } = await open();
    const { id: seen } = await call("bash", { command: "sleep 600", background: true });
    await call("command_stop", { id: seen });
    expect(await ended.note(place)).toBeUndefined();
    const { id } = await call("bash", { command: "sleep 600", background: true });
    await restart();
    expect(await ended.note(place)).toContain(`- ${id} (sleep 600): the process of the tools`);
    expect(await ended.note(place)).toBeUndefined();
    expect(errors).toEqual([]);
  });
});

const prepared: CallResult = {
  status: "succeeded",
  output: { input: { command: "x" }, expected: { root: "/work" } },
};
const failed = (code: string, where = "core"): CallResult => ({
  status: code === "tool.canceled" ? "canceled" : "failed",
  error: { code, message: `because of ${code}`, where },
});

interface SeenCall {
  readonly tool: string;
  readonly input: unknown;
  readonly options: ToolHostCallOptions;
}

const actor = { type: "human", id: "ada" } as const;

/** bash over a host that answers as it is told. */
const bashOver = (results: Record<string, CallResult>, chunks: StreamChunk[] = []) => {
  const calls: SeenCall[] = [];
  const host: Pick<AgentHost, "call" | "check"> = {
    check: async () => undefined,
    call: async (toolId, input, options, onChunk) => {
      const tool = toolId.replace(`${workspaceAgentId}/`, "");
      calls.push({ tool, input, options });
      if (tool === "bash") for (const chunk of chunks) onChunk(chunk);
      return results[tool] ?? failed("tool.not_found");
    },
  };
  const bash = createWorkspaceTools(host, { callerId: "harness.serve", actor }).find(
    ({ name }) => name === "bash",
  ) as ThreadTool;
  return { bash, calls };
};

const scope = { threadId: "ses_1", directory: "/work", callId: "item_1" };
const execution = { ...scope, signal: new AbortController().signal, stdout: ignore, stderr: ignore };

const errorOf = async (call: Promise<unknown>): Promise<ToolError> => {
  const error = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!ToolError.isInstance(error)) throw new TypeError(`no ToolError: ${String(error)}`);
  return error;
};

describe("a tool of an agent as a tool of a thread server", () => {
  it.each([
    {},
    { input: [] },
    { input: {}, expected: {} },
    { input: {}, preview: 5, expected: { root: "/" } },
  ])("does not show what is no prepared call: %j", async (output) => {
    const { bash } = bashOver({ prepare: { status: "succeeded", output } });
    expect((await errorOf(bash.prepare({}, scope))).code).toBe("tool.failed");
  });

  it("passes on what is streamed, what is missing in it, and what a failed call had produced", async () => {
    const chunks: StreamChunk[] = [
      { seq: 1, channel: "stdout", data: { text: "out" } },
      { seq: 2, channel: "status", data: { text: "working" } },
      { seq: 5, channel: "stderr", data: { text: "err" }, missing: 2 },
      { seq: 6, channel: "log", data: { text: "[cut]" } },
      { seq: 7, channel: "partial_result", data: { json: { found: 1 } } },
      { seq: 8, channel: "partial_result", data: { json: { exitCode: 1 } } },
    ];
    const { bash } = bashOver({ prepare: prepared, bash: failed("tool.failed", "agent.tool") }, chunks);
    const seen: string[] = [];
    const stdout = (text: string) => void seen.push(`stdout:${text}`);
    const stderr = (text: string) => void seen.push(`stderr:${text}`);
    const others = {
      log: (text: string) => void seen.push(`log:${text}`),
      status: (text: string) => void seen.push(`status:${text}`),
      partialResult: (json: object) => void seen.push(`partial:${JSON.stringify(json)}`),
    };
    const prepare = await bash.prepare({}, scope);
    const error = await errorOf(prepare.run({ ...execution, stdout, stderr, ...others }));
    expect(error).toMatchObject({ code: "tool.failed", output: { exitCode: 1 } });
    expect(seen).toEqual([
      "stdout:out",
      "status:working",
      "stderr:\n[2 pieces of output are missing here]\n",
      "stderr:err",
      "log:[cut]",
      'partial:{"found":1}',
    ]);
  });

  it("goes on when the log fails", async () => {
    const chunks: StreamChunk[] = [1, 2].map((seq) => ({ seq, channel: "stdout", data: { text: "x" } }));
    const result: CallResult = { status: "succeeded", output: { ok: true } };
    const { bash } = bashOver({ prepare: prepared, bash: result }, chunks);
    const stdout = () => {
      throw new TypeError("the turn is over");
    };
    expect(await (await bash.prepare({}, scope)).run({ ...execution, stdout })).toEqual({ ok: true });
  });
});
