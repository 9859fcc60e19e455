import type { JsonObject } from "@harnesskit/protocol/envelope";
import { type Tool, type ToolContext, ToolError, type TurnRunner } from "../../src/index.ts";

export interface RecordingTool extends Tool {
  readonly runs: JsonObject[];
  prepare: NonNullable<Tool["prepare"]>;
}

/** A tool that records what it runs. */
export const recordingTool = (
  name: string,
  effects: NonNullable<Tool["effects"]>,
  run: (input: JsonObject, context: ToolContext) => Promise<JsonObject | string> = async () => ({
    ok: true,
  }),
): RecordingTool => {
  const runs: JsonObject[] = [];
  return {
    name,
    effects,
    description: `The ${name} tool.`,
    input: { type: "object", properties: { command: { type: "string" } } },
    runs,
    async prepare(input) {
      if (typeof input !== "object" || input === null || Array.isArray(input)) {
        throw new ToolError("tool.invalid_input", "The input is no object.");
      }
      const normalised = structuredClone(input) as JsonObject;
      return {
        input: normalised,
        preview: `would ${name}`,
      };
    },
    run: async (input: JsonObject, context) => {
      runs.push(input);
      return run(input, context);
    },
  };
};

/** A runner that makes these calls, one after the other, and says what became of them. */
export const callingRunner = (...calls: { tool: string; input: unknown }[]): TurnRunner => ({
  async run(turn) {
    const outcomes: string[] = [];
    for (const [index, call] of calls.entries()) {
      const { status } = await turn.callTool({ ...call, callId: `call-${index}`, step: index });
      outcomes.push(status);
    }
    const message = turn.message();
    message.append(outcomes.join(","));
    await message.complete();
  },
});

/** A runner that writes the parts as deltas of one message. */
export const sayingRunner = (...parts: string[]): TurnRunner => ({
  async run(turn) {
    const message = turn.message();
    for (const part of parts) message.append(part);
    await message.complete();
  },
});
