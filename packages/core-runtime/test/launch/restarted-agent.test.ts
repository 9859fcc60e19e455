import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createDeferred } from "@harnesskit/wire";
import { expect, it, onTestFinished } from "vitest";
import { sourceBundle } from "../../../../test-kit/source-bundle.ts";
import { killProcess } from "../../../../test-kit/test-kit.ts";
import { createAgentHost, type KnownToolsStore } from "../../src/thread-tools/index.ts";

const sdk = await sourceBundle(new URL("../../../agent-sdk/src/index.ts", import.meta.url));
const agentId = "com.example.restarted";

const program = `
  import { writeFileSync } from "node:fs";
  import { defineAgent, tool } from ${JSON.stringify(sdk)};
  writeFileSync("pid", String(process.pid));
  const of = (name, run) => tool({ name, description: name, input: { type: "object" }, effects: "read", run });
  const hold = of("hold", async (_input, { status, signal }) => {
    await status("holding");
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
    return {};
  });
  await defineAgent({ id: "${agentId}", version: "1.0.0", tools: [hold, of("ping", () => ({ pong: true }))] }).run();
`;

/** The process that the core started: it outlives the connection of the agent until the file \`end\` is there. */
const wrapper = `
  import { spawn } from "node:child_process";
  import { existsSync, rmSync } from "node:fs";
  spawn(process.execPath, ["agent.mjs"], { stdio: "inherit" });
  while (!existsSync("end")) await new Promise((resolve) => setTimeout(resolve, 5));
  rmSync("end");
  process.exit(1);
`;

/** An agent whose call runs, and is then lost with the agent's connection; its process is still there. */
const loseAgent = async (knownTools?: KnownToolsStore) => {
  const directory = await mkdtemp(join(tmpdir(), "hk-restarted-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const manifest = { id: agentId, version: "1.0.0", command: [process.execPath, "wrapper.mjs"] };
  await writeFile(join(directory, "opensentience.agent.json"), JSON.stringify(manifest));
  await writeFile(join(directory, "wrapper.mjs"), wrapper);
  await writeFile(join(directory, "agent.mjs"), program);
  const host = createAgentHost({
    agents: [{ agentId, directory }],
    environment: process.env,
    version: "1.0.0",
    ...(knownTools && { knownTools }),
    onError: (error) => expect.fail(String(error)),
  });
  onTestFinished(() => host.close());
  const holds = createDeferred<void>();
  await host.tools();
  const lost = host.call(`${agentId}/hold`, {}, {}, () => holds.resolve());
  await holds.promise;
  killProcess(Number(await readFile(join(directory, "pid"), "utf8")));
  expect(await lost).toMatchObject({ status: "failed", error: { code: "agent.lost" } });
  return { host, endProcess: () => writeFile(join(directory, "end"), "") };
};

const ids = [`${agentId}/hold`, `${agentId}/ping`];

it("waits with a call for the restart of an agent that is lost, also where its process has not ended yet", async () => {
  const { host, endProcess } = await loseAgent();
  const refused = host.check(`${agentId}/ping`, {}, {});
  const called = host.call(`${agentId}/ping`, {}, {}, () => {});
  await endProcess();
  expect(await refused).toBeUndefined();
  expect(await called).toMatchObject({ status: "succeeded", output: { pong: true } });
});

it("has the tools of an agent that is being restarted", async () => {
  const { host } = await loseAgent();
  expect((await host.tools()).map(({ tool_id: id }) => id).sort()).toEqual(ids);
});
