import { tool as toTool } from "ai";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { createThreadServer, type ThreadServerOptions } from "../src/index.ts";
import { recordingTool } from "./support/tools.ts";

const ofAiSdk = toTool({ description: "Adds.", inputSchema: z.object({}), execute: async () => 1 });
const add = recordingTool("add", "read");

describe("createThreadServer", () => {
  it.each([
    ["a gate that cannot judge", { gate: { decide: () => "allow" } }, "gate must"],
    ["a promptGate that cannot judge", { promptGate: { decide: () => "allow" } }, "promptGate must"],
    [
      "a runner that is a function",
      { runner: async () => {} },
      'runner must be an object with a function "run"',
    ],
    ["tools by their names", { tools: { add } }, "tools must be an array"],
    [
      "what is not a tool",
      { tools: [add, { name: "b" }] },
      'tools[1] must be a tool with a name and a function "run"',
    ],
    ["a ToolSet of the AI SDK", { tools: { add: ofAiSdk } }, "fromAiSdkTool(tool, { name })"],
    ["a tool of the AI SDK", { tools: [ofAiSdk] }, "fromAiSdkTool(tool, { name })"],
    [
      "two tools of one name",
      { tools: [add, recordingTool("add", "read")] },
      'tools has two tools named "add"',
    ],
  ])("refuses %s", (_name, given, words) => {
    const options = { runner: { run: async () => {} }, ...given };
    expect(() => createThreadServer(options as unknown as ThreadServerOptions)).toThrow(
      expect.objectContaining({ code: "invalid_argument", message: expect.stringContaining(words) }),
    );
  });
});
