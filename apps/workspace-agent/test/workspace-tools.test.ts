import { HarnessError } from "@harnesskit/wire";
import { describe, expect, it } from "vitest";
import { commandEnvironment } from "../src/command-environment.ts";
import { workspaceTools } from "../src/declarations.ts";
import { createWorkspaceAgent, type WorkspaceAgentOptions } from "../src/index.ts";
import { workspaceToolsLimits } from "../src/limits.ts";
import { Fixture, failure } from "./support/fixture.ts";

describe("the workspace tools", () => {
  it("have fixed names, effects and inputs", () => {
    const surface = workspaceTools.map((tool) => {
      const {
        properties = {},
        required = [],
        additionalProperties,
      } = tool.inputSchema as {
        properties?: Record<string, { type?: string }>;
        required?: string[];
        additionalProperties?: boolean;
      };
      expect(tool.inputSchema).toHaveProperty("type", "object");
      expect(additionalProperties).toBe(false);
      const fields = Object.entries(properties).map(
        ([name, { type }]) => `${name}${required.includes(name) ? "" : "?"}: ${type}`,
      );
      return `${tool.name} [${tool.effects}] ${fields.join(", ")}`;
    });
    expect(surface).toEqual([
      "bash [execute] command: string, timeoutMs?: integer, background?: boolean",
      "read [read] path: string, offset?: integer, limit?: integer",
      "write [write] path: string, content: string",
      "edit [write] path: string, oldText: string, newText: string",
      "glob [read] pattern: string, path?: string, all?: boolean",
      "grep [read] pattern: string, path?: string, include?: string, all?: boolean",
      "commands [read] id?: string, waitMs?: integer",
      "command_input [execute] id: string, text: string, end?: boolean",
      "command_stop [read] id: string",
    ]);
  });

  it("say that commands are not confined", () => {
    const [bash] = workspaceTools;
    expect(bash?.description).toContain("There is NO sandbox");
  });

  it.each([
    { limits: { maxReadBytes: 0 } },
    { limits: { commandTimeoutMs: 600_001 } },
    { limits: { killGraceMs: -1 } },
    { limits: { maxGlobPaths: 1.5 } },
    { limits: { maxGrepMatches: Number.NaN } },
    { limits: { searchTimeoutMs: Number.POSITIVE_INFINITY } },
    { env: [""] },
    { ripgrepPath: "rg" },
    { env: ["A=B"] },
    { env: ["HARNESS_SESSION_TOKEN"] },
    { env: ["HARNESS_AGENT_SOCKET"] },
  ] satisfies WorkspaceAgentOptions[])("refuse the option %j", (options) => {
    let thrown: unknown;
    try {
      createWorkspaceAgent(options);
    } catch (error) {
      thrown = error;
    }
    expect(HarnessError.isInstance(thrown)).toBe(true);
    expect(thrown).toMatchObject({ name: "InvalidArgumentError", code: "invalid_argument" });
  });

  it("have the documented default limits", () => {
    expect(workspaceToolsLimits.defaults).toEqual({
      commandTimeoutMs: 120000,
      killGraceMs: 2000,
      maxOutputBytes: 65536,
      maxStreamedBytes: 1048576,
      maxReadBytes: 262144,
      maxReadableFileBytes: 268435456,
      maxWriteBytes: 4194304,
      maxPreviewLength: 65536,
      maxGlobPaths: 1000,
      maxGrepMatches: 200,
      maxGrepLineLength: 500,
      maxGrepFileBytes: 4194304,
      maxSearchedFiles: 100000,
      searchTimeoutMs: 30000,
    });
  });

  it("name the field that is wrong, in bounded text", async () => {
    await using fixture = await Fixture.create();
    const error = await failure(fixture.prepare("read", { path: 5, ["x".repeat(5000)]: 1 }));
    expect(error.code).toBe("tool.invalid_input");
    expect(error.message).toContain("path:");
    expect(error.message.length).toBeLessThanOrEqual(1001);
    for (const input of [null, undefined, [], 5, "x"])
      expect((await failure(fixture.prepare("read", input))).code).toBe("tool.invalid_input");
  });
});

it("the environment of commands has the id by which a core finds what was left behind, and never the way to the core", () => {
  const source = {
    PATH: "/bin",
    HARNESS_LAUNCH_ID: "lch_1",
    HARNESS_SESSION_TOKEN: "secret",
    HARNESS_AGENT_SOCKET: "/run/core",
  };
  expect(commandEnvironment(["HARNESS_SESSION_TOKEN", "HARNESS_AGENT_SOCKET"], source)).toEqual({
    PATH: "/bin",
    HARNESS_LAUNCH_ID: "lch_1",
  });
});
