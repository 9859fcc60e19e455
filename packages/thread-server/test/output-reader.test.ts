import { expect, it } from "vitest";
import type { TurnRunner } from "../src/index.ts";
import { serve } from "./support/serve.ts";
import { recordingTool } from "./support/tools.ts";

it.each([
  ["in the middle of its text", 300],
  ["behind an escaped quote, where it looks like a whole string", 301],
])("reads again an output whose artifact was cut at its limit %s", async (_where, maxArtifactLength) => {
  const outcomes: unknown[] = [];
  const runner: TurnRunner = {
    async run(turn) {
      await turn.callTool({ tool: "say", input: {}, callId: "c" });
      const id = turn.outputReference({ callId: "c" });
      outcomes.push(await turn.callTool({ tool: turn.outputReader.name, input: { id, limit: 9 } }));
    },
  };
  const { client } = serve({
    runner,
    tools: [recordingTool("say", "read", async () => '"'.repeat(1000))],
    limits: { maxOutputLength: 200, maxArtifactLength },
  });
  expect((await client.runTurn()).params.status).toBe("completed");
  const output = { length: maxArtifactLength, text: `"${'\\"'.repeat(4)}` };
  expect(outcomes).toMatchObject([{ status: "succeeded", output }]);
});
