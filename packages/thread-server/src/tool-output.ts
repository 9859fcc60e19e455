import type { JsonValue } from "@harnesskit/protocol/envelope";
import type { ToolOutputOptions } from "./tool-log.ts";
import { WholeOutput } from "./whole-output.ts";

/** The output as its item keeps it: whole, or its beginning, the whole in a file that an `artifact` item names. */
export const keepOutput = async (output: JsonValue, options: ToolOutputOptions): Promise<JsonValue> => {
  const { maxOutputLength } = options.settings;
  const text = JSON.stringify(output);
  if (text.length <= maxOutputLength) return output;
  const whole = new WholeOutput(options, `${options.toolItemId}-output.json`, "application/json", text);
  await whole.complete();
  return { truncated: true, length: text.length, head: text.slice(0, maxOutputLength) };
};
