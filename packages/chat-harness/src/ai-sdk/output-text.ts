import type { JsonObject } from "@harnesskit/protocol/envelope";
import type { ToolResultPart } from "ai";

type ContentPart = Extract<ToolResultPart["output"], { type: "content" }>["value"][number];

const partText = (part: ContentPart): string =>
  part.type === "text" ? part.text : `[a part of type ${part.type}]`;

/** A part in MCP's form, in which images and files are kept. */
const toItem = (part: ContentPart): JsonObject => {
  if (!("data" in part) || typeof part.data !== "string") return { type: "text", text: partText(part) };
  const { data, mediaType: mimeType } = part;
  return mimeType.startsWith("image/")
    ? { type: "image", mimeType, data }
    : { type: "resource", resource: { uri: "tool:output", mimeType, blob: data } };
};

/** The output of a tool as the content of its message. */
export const outputText = (output: ToolResultPart["output"]): string => {
  switch (output.type) {
    case "text":
    case "error-text":
      return output.value;
    case "json":
    case "error-json":
      return JSON.stringify(output.value);
    case "execution-denied":
      return output.reason ?? "";
    case "content":
      return output.value.some((part) => "data" in part)
        ? JSON.stringify({ content: output.value.map(toItem) })
        : output.value.map(partText).join("\n");
  }
};
