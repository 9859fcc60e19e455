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
      find: {
        type: "string",
        minLength: 1,
        description:
          "Shows the places where this text stands, as it is written, in place of a part of the output.",
      },
    },
    required: ["id"],
    additionalProperties: false,
  },
};

const whole = (value: unknown, fallback: number): number =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : fallback;

/** Places that one call shows of what it looks for, and the characters before and behind each. */
const maxPlaces = 20;
const besideLength = 200;

const placesOf = (text: string, find: string, from: number) => {
  const places: { readonly offset: number; readonly text: string }[] = [];
  let at = text.indexOf(find, from);
  while (at >= 0 && places.length < maxPlaces) {
    const end = Math.min(at + find.length, at + besideLength) + besideLength;
    places.push({ offset: at, text: text.slice(Math.max(0, at - besideLength), end) });
    // What was shown with one place is not shown again.
    at = text.indexOf(find, end);
  }
  return { length: text.length, places, isEnd: at < 0, ...(at >= 0 && { nextOffset: at }) };
};

/** What a call of {@link readOutputTool} asks for: a part of an output, or the places of a text in it from `offset` on. */
export const outputPage = (text: string, input: Readonly<Record<string, unknown>>) => {
  const offset = whole(input.offset, 0);
  if (typeof input.find === "string" && input.find !== "") return placesOf(text, input.find, offset);
  const end = offset + Math.min(pageLength, Math.max(1, whole(input.limit, pageLength)));
  return { length: text.length, offset, text: text.slice(offset, end), isEnd: end >= text.length };
};
