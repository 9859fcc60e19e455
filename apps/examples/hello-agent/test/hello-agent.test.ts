import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createMemoryGrants, startCore, toGrants } from "@harnesskit/core-runtime";
import { describe, expect, it, onTestFinished } from "vitest";

const directory = fileURLToPath(new URL("..", import.meta.url));

const grants = createMemoryGrants(
  toGrants({ agent_id: "com.example.hello", permissions: ["fs.write", "side_effects"], granted_by: "test" }),
);

/** A core with the agent, and calls about a project of its own. */
const start = async (options: Parameters<typeof startCore>[0] = {}) => {
  const root = await mkdtemp(join(tmpdir(), "hk-hello-agent-"));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  const core = await startCore({ agents: [directory], socketDirectory: root, ...options });
  onTestFinished(() => core.close());
  await core.ready();
  const call = (name: string, input: object) =>
    core.call(`com.example.hello/${name}`, input, { context: { project_root: root } }).result;
  return { core, call, book: join(root, "GUESTS.md") };
};

describe("the example agent", () => {
  it("greets through a core, knows its guests, and ends with the core", async () => {
    const { core, call, book } = await start();
    expect(core.launched()).toMatchObject([
      { toolIds: ["greet", "sign", "prepare"].map((name) => `com.example.hello/${name}`) },
    ]);
    expect(await call("greet", { name: "Ada" })).toMatchObject({
      status: "succeeded",
      output: { greeting: "Hello, Ada!" },
    });
    await writeFile(book, "- Ada\n");
    expect(await call("greet", { name: "Ada" })).toMatchObject({
      output: { greeting: "Welcome back, Ada!" },
    });
    for (const name of [7, "", "two\nlines"]) {
      expect(await call("greet", { name })).toMatchObject({
        status: "failed",
        error: { code: "tool.invalid_input" },
      });
    }
    await core.close();
    expect(core.launched()).toMatchObject([{ state: "stopped", lastExit: { code: 0, signal: null } }]);
  });

  it("writes only where the operator granted it", async () => {
    const { call, book } = await start();
    expect(await call("sign", { name: "Ada" })).toMatchObject({
      status: "failed",
      error: { code: "tool.forbidden", details: { missing: ["side_effects", "fs.write"] } },
    });
    await expect(readFile(book)).rejects.toMatchObject({ code: "ENOENT" });
  });

  it("does what was shown, or nothing", async () => {
    const { core, call, book } = await start({ grants });
    const shown = await call("prepare", { tool: "sign", input: { name: "Ada", more: 1 } });
    expect(shown).toMatchObject({
      output: { input: { name: "Ada" }, preview: "GUESTS.md\n+- Ada\n", expected: expect.any(String) },
    });
    if (shown.status !== "succeeded") throw new RangeError("it was not prepared");
    const { input, expected } = shown.output as { input: object; expected: string };
    expect(await call("sign", { ...input, expected })).toMatchObject({ output: { guests: 1 } });
    expect(await call("sign", { ...input, expected })).toMatchObject({ error: { code: "hello.changed" } });
    expect(await readFile(book, "utf8")).toBe("- Ada\n");
    expect(await call("prepare", { tool: "sign", input: {} })).toMatchObject({
      error: { code: "tool.invalid_input" },
    });
    expect(await core.call("com.example.hello/sign", { name: "Ada" }).result).toMatchObject({
      error: { code: "hello.no_project" },
    });
  });
});
