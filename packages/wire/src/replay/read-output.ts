import type { JsonObject } from "@harnesskit/protocol/envelope";

/** Characters that one call gives, where it does not ask for fewer. */
const pageLength = 20_000;

/** The tool with which a model reads what was left out of an output, as it is shown once a mark names it. */
export const readOutputTool: {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
} = {
  name: "read_output",
  description:
    "Reads an earlier tool output again of which a part was left out of this conversation. Give the id of its mark; read a long one in parts.",
  inputSchema: {
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
  },
};

const whole = (value: unknown, fallback: number): number =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : fallback;

/** The part of an output that a call of {@link readOutputTool} asks for. */
export const outputPage = (text: string, input: Readonly<Record<string, unknown>>) => {
  const offset = whole(input.offset, 0);
  const end = offset + Math.min(pageLength, Math.max(1, whole(input.limit, pageLength)));
  return { length: text.length, offset, text: text.slice(offset, end), isEnd: end >= text.length };
};
