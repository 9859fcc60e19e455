import { tool as toTool } from "ai";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { fromAiSdkTool, toAiSdkTool } from "../src/ai-sdk/index.ts";
import { createThreadServer, tool } from "../src/index.ts";
import { RawClient } from "./support/raw-client.ts";
import { callingRunner } from "./support/tools.ts";

const input = z.object({ city: z.string(), days: z.number().default(1) });

describe("a tool of the AI SDK", () => {
  it("runs on a thread server with its validated input", async () => {
    const weather = toTool({
      description: "Tells the weather.",
      inputSchema: input,
      async *execute({ city, days }) {
        yield "preliminary";
        yield `${city} ${days}`;
      },
    });
    const runner = callingRunner(
      { tool: "weather", input: { city: "Bern" } },
      { tool: "weather", input: { city: 1 } },
    );
    const tools = [fromAiSdkTool(weather as never, { name: "weather", effects: "read" })];
    const client = RawClient.connect(createThreadServer({ runner, tools }));
    const { result } = await client.startTurn(await client.createThread());
    await client.turnEnd(result.turnId);
    expect(client.items("tool_exec")).toMatchObject([
      { status: "succeeded", output: "Bern 1", input: { city: "Bern", days: 1 } },
      { status: "failed", code: "tool.invalid_input" },
    ]);
  });

  it("is made of a tool of ours, which validates as before", async () => {
    const printed: string[] = [];
    const ours = tool({
      name: "weather",
      description: "Tells the weather.",
      input,
      run: ({ city, days }, { stdout }) => {
        void stdout("asked");
        return `${city} ${days}`;
      },
    });
    const { execute, description } = toAiSdkTool(ours, { stdout: (text) => void printed.push(text) });
    expect(description).toBe("Tells the weather.");
    const call = { toolCallId: "call_1", messages: [] } as never;
    expect(await execute?.({ city: "Bern" } as never, call)).toBe("Bern 1");
    await expect(execute?.({} as never, call)).rejects.toMatchObject({ code: "tool.invalid_input" });
    expect(printed).toEqual(["asked"]);
  });
});
