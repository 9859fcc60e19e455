import { readFile } from "node:fs/promises";
import type { JsonObject } from "@harnesskit/protocol/envelope";
import { AgentManifestSchema, type AgentToolsRegister } from "@harnesskit/protocol/runtime";
import { createDeferred } from "@harnesskit/wire";
import { createMemoryPair } from "@harnesskit/wire/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { workspaceAgentId, workspaceTools } from "../src/declarations.ts";
import { createWorkspaceAgent } from "../src/index.ts";
import { Fixture, failure, failureCode, run } from "./support/fixture.ts";

const ownFile = (name: string) => readFile(new URL(`../${name}`, import.meta.url), "utf8");

let fixture: Fixture;
beforeEach(async () => {
  fixture = await Fixture.create();
});
afterEach(() => fixture[Symbol.asyncDispose]());

/** What the agent tells a core of its tools. */
const registeredTools = async (): Promise<AgentToolsRegister["payload"]["tools"]> => {
  const { client, server } = createMemoryPair();
  const registration = createDeferred<AgentToolsRegister>();
  const answer = (type: string, payload: object, inReplyTo: string) =>
    server.send({ v: 1, type, id: type, ts: "2026-01-16T12:00:00Z", in_reply_to: inReplyTo, payload });
  server.start({
    message: (message) => {
      const { type, id, payload } = message as AgentToolsRegister;
      if ((type as string) === "agent.hello") {
        const welcome = { accepted_version: 1, session_id: "s", heartbeat_interval_ms: 5000 };
        const core = { max_frame_bytes: 4_194_304, server: { core_version: "1.0.0", instance_id: "c" } };
        void answer("core.welcome", { ...welcome, ...core }, id);
      }
      if (type !== "agent.tools.register") return;
      void answer("core.tools.registered", { registered: payload.tools.map((tool) => tool.tool_id) }, id);
      registration.resolve(message as AgentToolsRegister);
    },
    error: () => {},
    close: () => {},
  });
  const session = await createWorkspaceAgent().connect(client, { token: "t" });
  const { payload } = await registration.promise;
  await session.close();
  return payload.tools;
};

describe("the workspace agent", () => {
  it("has a manifest that a core takes, of the version of the package", async () => {
    const manifest = AgentManifestSchema.parse(JSON.parse(await ownFile("opensentience.agent.json")));
    expect(manifest).toMatchObject({ id: "harnesskit.workspace", command: ["node", "dist/agent.cjs"] });
    expect(manifest.version).toBe(JSON.parse(await ownFile("package.json")).version);
    expect(createWorkspaceAgent().id).toBe(workspaceAgentId);
  });

  it("tells a core what each tool may do", async () => {
    const tools = await registeredTools();
    expect(
      tools.map(({ name, side_effects, tags, capabilities }) => ({ name, side_effects, tags, capabilities })),
    ).toEqual([
      { name: "prepare", side_effects: false, tags: ["prepare"], capabilities: undefined },
      { name: "ended_commands", side_effects: false, tags: ["prepare"], capabilities: undefined },
      {
        name: "bash",
        side_effects: true,
        tags: ["execute"],
        capabilities: ["streaming", "cancellation"],
      },
      { name: "read", side_effects: false, tags: ["read"], capabilities: ["cancellation"] },
      { name: "write", side_effects: true, tags: ["write"], capabilities: ["cancellation"] },
      { name: "edit", side_effects: true, tags: ["write"], capabilities: ["cancellation"] },
      { name: "glob", side_effects: false, tags: ["read"], capabilities: ["cancellation"] },
      { name: "grep", side_effects: false, tags: ["read"], capabilities: ["cancellation"] },
      { name: "commands", side_effects: false, tags: ["read"], capabilities: ["cancellation"] },
      {
        name: "command_input",
        side_effects: true,
        tags: ["execute"],
        capabilities: ["streaming", "cancellation"],
      },
      { name: "command_stop", side_effects: false, tags: ["read"], capabilities: ["cancellation"] },
    ]);
    expect(Object.fromEntries(tools.map(({ name, tags }) => [name, tags]))).toMatchObject(
      Object.fromEntries(workspaceTools.map(({ name, effects }) => [name, [effects]])),
    );
  });

  it("shows a core the input of each tool as a model has it, and `expected` beside it", async () => {
    for (const { name, input_schema: schema } of (await registeredTools()).slice(2)) {
      const input_schema = schema as JsonObject;
      const { expected, ...shown } = input_schema.properties as Record<string, unknown>;
      expect(expected).toMatchObject({ type: "object", required: ["root"], additionalProperties: false });
      const info = workspaceTools.find((tool) => tool.name === name);
      expect(shown).toEqual(info?.inputSchema.properties);
      expect(input_schema.required).toEqual(info?.inputSchema.required);
    }
  });

  it.each([undefined, { project_root: "relative/path" }])(
    "makes no call without a directory to work in: %j",
    async (context) => {
      const options = context === undefined ? {} : { context };
      const calls = [
        fixture.agent.call("prepare", { tool: "read", input: { path: "x" } }, options),
        fixture.agent.call("bash", { command: "true" }, options),
        fixture.agent.call("glob", { pattern: "*" }, options),
      ];
      for (const call of calls) expect(await failureCode(call)).toBe("tool.no_project_root");
    },
  );

  it("refuses an `expected` that the model wrote", async () => {
    const expected = { root: "/" };
    for (const { name } of workspaceTools) {
      const input = { path: "a", pattern: "a", command: "true", content: "", oldText: "a", newText: "b" };
      const { code, message } = await failure(fixture.prepare(name as "read", { ...input, expected }));
      expect(code).toBe("tool.invalid_input");
      expect(message).toContain("expected");
    }
  });

  it("refuses an `expected` of another directory, and an input that `prepare` did not make", async () => {
    await fixture.put("a", "text");
    const context = { project_root: fixture.directory };
    const call = (input: object) => failureCode(fixture.agent.call("read", input, { context }));
    expect(await call({ path: "a", expected: { root: "/" } })).toBe("tool.outside_workspace");
    expect(await call({ path: "./a", expected: { root: fixture.directory } })).toBe("tool.changed");
    expect(await call({ path: "a", expected: { root: fixture.directory, more: 1 } })).toBe(
      "tool.invalid_input",
    );
  });

  it("prepares only tools that it has", async () => {
    const context = { project_root: fixture.directory };
    for (const tool of ["prepare", "toString", ""]) {
      expect(await failureCode(fixture.agent.call("prepare", { tool, input: {} }, { context }))).toBe(
        "tool.invalid_input",
      );
    }
  });

  it("takes and returns content up to the limit of a file, escaped or not", async () => {
    const content = "\u0001".repeat(4 * 1024 * 1024);
    const prepared = await fixture.prepare("write", { path: "large", content });
    expect(await run(prepared)).toMatchObject({ bytes: content.length });
    const { text } = (await fixture.call("read", { path: "large" })) as { text: string };
    expect(text).toHaveLength(256 * 1024);
  });

  it("returns all that a failing command wrote, up to the limit", async () => {
    const command =
      "head -c 65536 /dev/zero | tr '\\0' '\\1'; head -c 65536 /dev/zero | tr '\\0' '\\2' >&2; exit 1";
    const { code, output } = await failure(fixture.call("bash", { command }));
    expect(code).toBe("tool.failed");
    expect(output).toEqual({ exitCode: 1, stdout: "\u0001".repeat(65536), stderr: "\u0002".repeat(65536) });
  });
});
