// How many source files one warm operation enters, on both sides, by V8's function coverage of the built packages.
// Usage: node bench/walks.mjs [--files]
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { Session } from "node:inspector/promises";
import { SourceMap } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { defineAgent, tool } from "@harnesskit/agent-sdk";
import { createAhpClient } from "@harnesskit/ahp-client";
import { createAhpServer } from "@harnesskit/ahp-server";
import { startCore } from "@harnesskit/core-runtime";
import { createShellEngine, shellHeaders } from "@harnesskit/shell-engine";
import { createHttpExchange, createHttpServer } from "@harnesskit/transport-http/node";
import { createUnixListener, createUnixTransport } from "@harnesskit/transport-uds";
import { serve } from "./lib/thread-server.mjs";
import { directives, requestOf, token } from "./openharness/messages.mjs";

const { values } = parseArgs({ options: { files: { type: "boolean", default: false } } });
const directory = mkdtempSync(join(tmpdir(), "bench-walks-"));

/** Connects both sides over a Unix socket. */
const overSocket = async (name, framing, accept) => {
  const path = join(directory, `${name}.sock`);
  const listener = createUnixListener({ path, framing });
  await listener.listen(accept);
  return { transport: createUnixTransport({ path, framing }), close: () => listener.close() };
};

const operations = {
  "core.call": async () => {
    const core = await startCore();
    const { transport, close } = await overSocket("core", "length-prefix", (channel) =>
      core.connect(channel),
    );
    const observer = { connected() {}, registered() {}, health() {}, disconnected() {} };
    const { token } = core.admit({ launchId: "launch-1", agentId: "demo.agent" }, observer);
    const input = { type: "object", properties: { text: { type: "string" } }, required: ["text"] };
    const echo = tool({
      name: "echo",
      description: "Echoes.",
      input,
      effects: "read",
      run: (given) => given,
    });
    const agent = defineAgent({ id: "demo.agent", version: "1.0.0", tools: [echo] });
    await agent.connect(await transport.connect(), { token });
    const run = async () => {
      const { status, error } = await core.call("demo.agent/echo", { text: "hello" }).result;
      if (status !== "succeeded") throw new Error(`core.call: ${error.code}`);
    };
    return { run, close: () => Promise.all([agent.stop(), core.close(), close()]) };
  },
  "AHP event": async () => {
    const handlers = { pre_action: () => ({ decision: "allow" }) };
    const harness = createAhpServer({ name: "bench", version: "1.0.0", handlers });
    const accept = (channel) => harness.connect(channel);
    const { transport, close } = await overSocket("ahp", "newline", accept);
    const client = createAhpClient({ transport, framework: "bench", version: "1.0.0" });
    await client.connect();
    const run = () => client.decide("pre_action", { tool_name: "shell", arguments: { command: "ls" } });
    return { run, close: () => Promise.all([client.close(), close()]) };
  },
  "shell request": async () => {
    const engine = createShellEngine({ handlers: { intent: () => directives } });
    const routes = { "/openharness": engine };
    const server = createHttpServer({ routes, token, contextHeaders: shellHeaders });
    await server.listen();
    const url = `${server.url}/openharness`;
    const exchange = createHttpExchange({ url, credentials: { bearer: token } });
    let last = 0;
    const run = () => exchange.handle(requestOf(++last));
    return { run, close: () => Promise.all([exchange.close(), server.close()]) };
  },
  "thread request": async () => {
    const { peer, server, create } = serve(directory, { run: async () => {} });
    await create();
    return { run: () => peer.request("thread.list", {}), close: () => server.close() };
  },
};

const maps = new Map();
/** The source file of a place in a built file. */
const sourceAt = (url, offset) => {
  if (!maps.has(url)) {
    const path = fileURLToPath(url);
    const text = readFileSync(path, "utf8");
    maps.set(url, { text, map: new SourceMap(JSON.parse(readFileSync(`${path}.map`, "utf8"))) });
  }
  const { text, map } = maps.get(url);
  const before = text.slice(0, offset).split("\n");
  const { originalSource } = map.findEntry(before.length - 1, before.at(-1).length);
  const name = originalSource?.replace(/^(?:\.\.\/)+/, "");
  // What is bundled of others is not ours.
  if (name === undefined || name.includes("node_modules/")) return undefined;
  return `${url.match(/\/packages\/([^/]+)\//)[1]}/${name}`;
};

const session = new Session();
session.connect();
await session.post("Profiler.enable");
const table = [];
for (const [name, open] of Object.entries(operations)) {
  const { run, close } = await open();
  for (let warm = 0; warm < 200; warm++) await run();
  await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  await run();
  const { result } = await session.post("Profiler.takePreciseCoverage");
  await session.post("Profiler.stopPreciseCoverage");
  const files = new Set();
  for (const { url, functions } of result.filter(({ url }) => /\/packages\/[^/]+\/dist\//.test(url))) {
    for (const { ranges } of functions)
      if (ranges[0].count > 0) files.add(sourceAt(url, ranges[0].startOffset));
  }
  files.delete(undefined);
  table.push({ operation: name, "source files": files.size });
  if (values.files) console.log(name, [...files].sort());
  await close();
}
console.table(table);
rmSync(directory, { recursive: true, force: true });
process.exit(0);
