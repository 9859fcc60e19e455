import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { sourceBundle } from "../../../../test-kit/source-bundle.ts";
import { startCore, type ToolInfo } from "../../src/index.ts";
import { createAgentHost, createAgentTools, type KnownToolsStore } from "../../src/thread-tools/index.ts";

const sdk = await sourceBundle(new URL("../../../agent-sdk/src/index.ts", import.meta.url));
const agentId = "com.example.slow";

/** Starts when the file `go` is there, and notes that it was started. */
const program = (tools: string) => `
  import { once } from "node:events";
  import { appendFileSync, existsSync, watch } from "node:fs";
  import { defineAgent, tool } from ${JSON.stringify(sdk)};
  const watching = watch(".");
  appendFileSync("started", "x");
  while (!existsSync("go")) await once(watching, "change");
  watching.close();
  const of = (name, more) => tool({ name, description: name, input: { type: "object" }, run: () => ({ name }), ...more });
  await defineAgent({ id: "${agentId}", version: "1.0.0", tools: [${tools}] }).run();
`;
const greet = `of("greet", { effects: "read" })`;

const makeAgent = async (tools: string, more: object = {}): Promise<string> => {
  const directory = await mkdtemp(join(tmpdir(), "hk-known-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const manifest = { id: agentId, version: "1.0.0", command: [process.execPath, "agent.mjs"], ...more };
  await writeFile(join(directory, "opensentience.agent.json"), JSON.stringify(manifest));
  await writeFile(join(directory, "agent.mjs"), program(tools));
  return directory;
};

const makeStore = (known?: readonly unknown[]) => {
  const written: (readonly ToolInfo[])[] = [];
  const store: KnownToolsStore = {
    read: async () => known,
    write: async (_agent, tools) => void written.push(tools),
  };
  return { store, written };
};

const hostOf = (directory: string, knownTools: KnownToolsStore, startTimeoutMs?: number) => {
  const notes: string[] = [];
  const host = createAgentHost({
    agents: [{ agentId, directory, startTimeoutMs }],
    environment: process.env,
    version: "1.0.0",
    knownTools,
    onNote: (line) => notes.push(line),
    onError: (error) => expect.fail(String(error)),
  });
  onTestFinished(() => host.close());
  const list = createAgentTools({ host });
  return { host, notes, list };
};

const scope = { callId: "item_1", threadId: "ses_1" };
const context = { callId: "item_1", signal: new AbortController().signal, stdout() {}, stderr() {} };
const go = (directory: string) => writeFile(join(directory, "go"), "");

/** What the agent declares, as a host that waited for it has kept it. */
const learn = async (tools: string): Promise<readonly unknown[]> => {
  const directory = await makeAgent(tools);
  await go(directory);
  const { store, written } = makeStore();
  const { list } = hostOf(directory, store);
  await list();
  await vi.waitFor(() => expect(written).toHaveLength(1), { timeout: 10_000 });
  return JSON.parse(JSON.stringify(written[0])) as unknown[];
};

describe("an agent whose tools are known", () => {
  it("is not waited for until its tool is called", async () => {
    const directory = await makeAgent(greet);
    const { store, written } = makeStore(await learn(greet));
    const { list, notes } = hostOf(directory, store);
    const [tool] = await list();
    expect(tool).toMatchObject({ id: `${agentId}/greet`, effects: "read" });
    const called = tool?.prepare({}, scope).then(({ run }) => run(context));
    await vi.waitFor(async () => expect(await readFile(join(directory, "started"), "utf8")).toBe("x"), {
      timeout: 10_000,
    });
    await go(directory);
    expect(await called).toEqual({ name: "greet" });
    expect({ notes, written }).toEqual({ notes: [], written: [] });
  });

  it("is not called by what it declared before: the call is refused, and the next turn has what it declares now", async () => {
    const directory = await makeAgent(`of("greet", { effects: "execute" }), of("more", { effects: "read" })`);
    const { store, written } = makeStore(await learn(greet));
    const { list, notes } = hostOf(directory, store);
    await go(directory);
    const [tool] = await list();
    expect(tool?.effects).toBe("read");
    await expect(tool?.prepare({}, scope)).rejects.toMatchObject({ code: "tool.changed" });
    await vi.waitFor(() => expect(written).toHaveLength(1));
    expect(notes).toEqual([
      expect.stringContaining(`the agent ${agentId} has other tools than when it last ran`),
    ]);
    expect((await list()).map(({ name, effects }) => [name, effects])).toEqual([
      ["com_example_slow__greet", "execute"],
      ["com_example_slow__more", "read"],
    ]);
  });

  it("is waited for where a tool of another agent is kept", async () => {
    const known = [{ tool_id: "com.example.other/greet", name: "greet", description: "", input_schema: {} }];
    const directory = await makeAgent(greet);
    await go(directory);
    const { list } = hostOf(directory, makeStore(known).store);
    expect(await list()).toMatchObject([{ id: `${agentId}/greet` }]);
  });

  it("is bound to digests that are computed, not read", async () => {
    const [known] = (await learn(`of("greet", { effects: "execute" })`)) as [ToolInfo];
    const directory = await makeAgent(`of("greet", { effects: "execute" })`);
    await go(directory);
    const { list } = hostOf(directory, makeStore([{ ...known, side_effects: false }]).store);
    const [tool] = await list();
    expect(tool?.effects).toBe("read");
    await expect(tool?.prepare({}, scope)).rejects.toMatchObject({ code: "tool.changed" });
  });
});

describe("an agent whose tools are not known", () => {
  it("is waited for as long as it may take to start, and then the turn says that it goes on without its tools", async () => {
    const directory = await makeAgent(greet);
    const hasty = hostOf(directory, makeStore().store, 50);
    expect(await hasty.list()).toEqual([]);
    expect(hasty.notes).toEqual([
      `the agent ${agentId} is not ready after 0.05 s; the conversation goes on without its tools`,
    ]);
    const patient = hostOf(directory, makeStore().store, 10_000);
    const listed = patient.list();
    await go(directory);
    expect(await listed).toMatchObject([{ id: `${agentId}/greet` }]);
    expect(patient.notes).toEqual([]);
  });

  it("has the time to start that its manifest names, in place of the core's", async () => {
    const directory = await makeAgent(greet, { start_timeout_ms: 20_000 });
    await go(directory);
    const core = await startCore({ startTimeoutMs: 1 });
    onTestFinished(() => core.close());
    expect(await core.launch(directory)).toMatchObject({ state: "ready", restarts: 0 });
  });
});
