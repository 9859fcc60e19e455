import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { buildSourceBundle } from "../../../scripts/lib/source-bundle.ts";
import { createDirectives, createFileDirectives } from "../src/index.ts";
import { connected, echoTool, openCore } from "./support/scripted-agent.ts";

let bundle: Awaited<ReturnType<typeof buildSourceBundle>>;
beforeAll(async () => {
  bundle = await buildSourceBundle(new URL("./launch/fixtures/use-directive.ts", import.meta.url));
});
afterAll(() => bundle.remove());

const toolId = "demo.agent/echo";
const input = { text: "a" };

const setUp = async () => {
  const directory = await mkdtemp(join(tmpdir(), "hk-directives-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const path = join(directory, "directives.json");
  const store = createFileDirectives({ path });
  const issue = (max_uses: number) =>
    createDirectives({ store }).issue({
      tool_id: toolId,
      input,
      issued_by: { type: "human", id: "ada" },
      until: new Date(Date.now() + 600_000).toISOString(),
      max_uses,
    });
  const usesOf = async () => (await store.list())[0]?.uses;
  return { path, store, issue, usesOf };
};

describe("a file of directives", () => {
  it("is private, and holds no content", async () => {
    const { path, issue } = await setUp();
    await issue(1);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(await readFile(path, "utf8")).not.toContain('"a"');
  });

  it("lets two cores make no more calls together than it allows", async () => {
    const { path, issue, usesOf } = await setUp();
    const { id } = await issue(3);
    const cores = await Promise.all(
      [1, 2].map(async () => {
        const core = openCore({ directives: createFileDirectives({ path }) });
        onTestFinished(() => core.close());
        const { agent } = await connected(core, {
          tools: [echoTool("demo.agent", "echo", { requires_directive: true })],
        });
        agent.onMessage = (message) => {
          if (message.type === "core.tool.call") agent.succeed(message);
        };
        return { core, agent };
      }),
    );
    const calls = cores.flatMap(({ core }) =>
      Array.from({ length: 4 }, () => core.call(toolId, input, { directiveId: id }).result),
    );
    const ends = await Promise.all(calls);
    expect(ends.filter(({ status }) => status === "succeeded")).toHaveLength(3);
    expect(cores.flatMap(({ agent }) => agent.ofType("core.tool.call"))).toHaveLength(3);
    expect(await usesOf()).toBe(3);
  });

  it("counts each use before it is made, also in processes that are killed", async () => {
    const maxUses = 30;
    const { path, issue, usesOf } = await setUp();
    const { id } = await issue(maxUses);
    let made = 0;
    const children: ChildProcess[] = [];
    const start = (): ChildProcess => {
      const child = spawn(process.execPath, [bundle.path, path, id, toolId, JSON.stringify(input)], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      child.stdout?.on("data", (text: Buffer) => {
        made += text.toString().split("\n").length - 1;
      });
      children.push(child);
      return child;
    };
    onTestFinished(() => {
      for (const child of children) child.kill("SIGKILL");
    });
    for (let round = 0; round < 4; round++) {
      const before = made;
      const [killed, other] = [start(), start()];
      await expect.poll(() => made, { timeout: 20_000, interval: 1 }).toBeGreaterThan(before);
      const ended = Promise.all([killed, other].map((child) => once(child, "close")));
      killed.kill("SIGKILL");
      other.kill("SIGKILL");
      await ended;
      expect(await usesOf()).toBeGreaterThanOrEqual(made);
      expect(made).toBeLessThanOrEqual(maxUses);
      if ((await usesOf()) === maxUses) break;
    }
    await once(start(), "close");
    expect(await usesOf()).toBe(maxUses);
    expect(made).toBeLessThanOrEqual(maxUses);
  });
});
