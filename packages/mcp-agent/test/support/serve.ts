import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { type RunningCore, startCore, type ToolInfo } from "@harnesskit/core-runtime";
import type { HarnessError } from "@harnesskit/wire";
import { lengthPrefixCodec } from "@harnesskit/wire";
import { createMemoryPair } from "@harnesskit/wire/testing";
import { createMcpAgent } from "../../src/index.ts";
import type { McpAgent, McpAgentOptions } from "../../src/mcp-agent.ts";

const fixture = fileURLToPath(new URL("../fixtures/hostile-server.mjs", import.meta.url));

export const hostile = (...modes: string[]) => ({
  command: [process.execPath, fixture, ...modes] as [string, ...string[]],
});

const require = createRequire(import.meta.url);

/** The programs of servers that others wrote. */
export const serverPrograms = {
  everything: require.resolve("@modelcontextprotocol/server-everything/dist/index.js"),
  filesystem: require.resolve("@modelcontextprotocol/server-filesystem/dist/index.js"),
};

/** Waits as short as a test may. */
const times = { discoverTimeoutMs: 100, minListIntervalMs: 20, initialBackoffMs: 20, maxBackoffMs: 100 };

export interface Served extends AsyncDisposable {
  readonly core: RunningCore;
  readonly agent: McpAgent;
  readonly reports: HarnessError[];
  readonly output: string[];
  readonly health: string[];
  /** The ids of the agent's tools, each time that the core says so: at first when the agent is ready. */
  readonly registrations: (readonly string[])[];
  tool(name: string): ToolInfo | undefined;
}

/** An MCP agent that started its server and serves a core in this process. */
export const serve = async (
  options: Pick<McpAgentOptions, "server"> & Partial<McpAgentOptions>,
): Promise<Served> => {
  const reports: HarnessError[] = [];
  const output: string[] = [];
  const health: string[] = [];
  const registrations: (readonly string[])[] = [];
  const id = options.id ?? "mcp.test";
  const agent = createMcpAgent({
    id,
    onError: (error) => reports.push(error),
    onOutput: (line) => output.push(line),
    ...times,
    ...options,
  });
  const core = await startCore({
    heartbeatIntervalMs: 20,
    missedHeartbeats: 1000,
    authorize: () => ({ allowed: true }),
  });
  const stop = async () => {
    await agent.stop();
    await core.close();
  };
  try {
    const starting = agent.start();
    if (options.startWaitMs === undefined) await starting;
    else starting.catch(() => {});
    const observer = {
      connected: () => {},
      registered: (toolIds: readonly string[]) => void registrations.push(toolIds),
      health: (status: string) => void health.push(status),
      disconnected: () => {},
    };
    const { token } = core.admit({ launchId: "launch-1", agentId: id }, observer);
    const { client, server } = createMemoryPair({ codec: lengthPrefixCodec() });
    core.connect(server);
    await agent.connect(client, { token });
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    core,
    agent,
    reports,
    output,
    health,
    registrations,
    tool: (name) => core.tools().find((tool) => tool.name === name),
    [Symbol.asyncDispose]: stop,
  };
};

/** The outcome of one call. */
export const call = (core: RunningCore, name: string, input: object = {}, options = {}) =>
  core.call(`mcp.test/${name}`, input, options).result;
