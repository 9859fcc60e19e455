import { describe, expect, it } from "vitest";
import { type Tool, ToolError, type ToolGate } from "../src/index.ts";
import type { ToolOutcome } from "../src/turn-runner.ts";
import { serve } from "./support/serve.ts";
import { callingRunner, recordingTool } from "./support/tools.ts";

const lost = new ToolError("agent.lost", "The process is gone.", {
  mayHaveRun: true,
  output: { stdout: "half" },
});

const losing = (): Tool => {
  let runs = 0;
  return recordingTool("bash", "execute", async () => {
    if (++runs === 1) throw lost;
    return { ok: true };
  });
};

describe("a call of which nobody knows how far it came", () => {
  it("ends as unknown, is not run again, and the turn goes on", async () => {
    const told: ToolOutcome[] = [];
    const gate: ToolGate = {
      before: () => ({ verdict: "allow" }),
      after: (_call, outcome) => void told.push(outcome),
    };
    const bash = losing();
    const call = { tool: "bash", input: { command: "x" } };
    const { client } = serve({ runner: callingRunner(call, call), tools: [bash], gate });
    await client.runTurn();
    const unknown = { status: "unknown", code: "agent.lost", error: "The process is gone." };
    expect(client.items("tool_exec")).toMatchObject([
      { ...unknown, output: { stdout: "half" } },
      { status: "succeeded" },
    ]);
    expect(told).toMatchObject([unknown, { status: "succeeded" }]);
  });
});
