import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startCore } from "@harnesskit/core-runtime";
import { expect, it, onTestFinished } from "vitest";

const directory = fileURLToPath(new URL("..", import.meta.url));

it("greets through a core, and ends with it", async () => {
  const socketDirectory = await mkdtemp(join(tmpdir(), "hk-hello-agent-"));
  onTestFinished(() => rm(socketDirectory, { recursive: true, force: true }));
  const core = await startCore({ agents: [directory], socketDirectory });
  onTestFinished(() => core.close());
  await core.ready();
  expect(core.launched()).toMatchObject([
    { agentId: "com.example.hello", agentVersion: "1.0.0", toolIds: ["com.example.hello/greet"] },
  ]);
  expect(await core.call("com.example.hello/greet", { name: "Ada" }).result).toEqual({
    status: "succeeded",
    output: { greeting: "Hello, Ada!" },
  });
  expect(await core.call("com.example.hello/greet", { name: 7 }).result).toMatchObject({
    status: "failed",
    error: { code: "tool.invalid_input" },
  });
  await core.close();
  expect(core.launched()).toMatchObject([{ state: "stopped", lastExit: { code: 0, signal: null } }]);
});

it("needs ten lines and two packages", async () => {
  const source = await readFile(join(directory, "agent.mjs"), "utf8");
  const imported = [...source.matchAll(/from "([^"]+)"/g)].map(([, specifier]) => specifier);
  expect(imported).toEqual(["@harnesskit/agent-sdk", "zod"]);
  expect(source.split("\n").filter((line) => line !== "" && !line.startsWith("//"))).toHaveLength(10);
});
