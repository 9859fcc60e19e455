import type { ChatMessage } from "@harnesskit/protocol/chat";
import type { JsonObject } from "@harnesskit/protocol/envelope";
import { jsonSchema, type Tool, tool } from "ai";
import { failureText } from "./failure-text.ts";

/** Characters that one call gives, where it does not ask for fewer. */
const pageLength = 20_000;

/** The tool `read_output` as a model is shown it, once it was shown only a part of an output. */
export const shownOutputReader: Tool = tool({
  description:
    "Reads an earlier tool output again of which a part was left out of this conversation. Give the id of its mark; read a long one in parts.",
  inputSchema: jsonSchema({
    type: "object",
    properties: {
      id: { type: "string", description: "The id in the mark of the output." },
      offset: { type: "integer", minimum: 0, description: "The first character to read. Default 0." },
      limit: {
        type: "integer",
        minimum: 1,
        maximum: pageLength,
        description: "How many characters to read.",
      },
    },
    required: ["id"],
    additionalProperties: false,
  }),
});

const whole = (value: unknown, fallback: number): number =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : fallback;

/** What a call of it gives: a part of a tool's message in the history. */
export const readOutput = (history: readonly ChatMessage[], input: JsonObject): string => {
  const found = history[Number(input.id)];
  if (found?.role !== "tool") {
    const message = "There is no output of this id: take the id of a mark.";
    return failureText({ status: "failed", code: "invalid_input", message });
  }
  const { content } = found;
  const offset = whole(input.offset, 0);
  const end = offset + Math.min(pageLength, Math.max(1, whole(input.limit, pageLength)));
  return JSON.stringify({
    length: content.length,
    offset,
    text: content.slice(offset, end),
    isEnd: end >= content.length,
  });
};
