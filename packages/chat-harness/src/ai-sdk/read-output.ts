import type { ChatMessage } from "@harnesskit/protocol/chat";
import type { JsonObject } from "@harnesskit/protocol/envelope";
import { outputPage, readOutputTool } from "@harnesskit/wire/replay";
import { jsonSchema, type Tool, tool } from "ai";
import { failureText } from "./failure-text.ts";

/** The tool `read_output` as a model is shown it, once it was shown only a part of an output. */
export const shownOutputReader: Tool = tool({
  description: readOutputTool.description,
  inputSchema: jsonSchema(readOutputTool.inputSchema),
});

/** What a call of it gives: a part of a tool's message in the history. */
export const readOutput = (history: readonly ChatMessage[], input: JsonObject): string => {
  const found = history[Number(input.id)];
  if (found?.role !== "tool") {
    const message = "There is no output with this id. Use the id that a shortened output names.";
    return failureText({ status: "failed", code: "invalid_input", message });
  }
  return JSON.stringify(outputPage(found.content, input));
};
