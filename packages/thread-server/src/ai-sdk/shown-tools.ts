import type { JsonObject } from "@harnesskit/protocol/envelope";
import { wellFormed, wellFormedJson } from "@harnesskit/wire/replay";
import { inputSchemaOf, type Tool } from "@harnesskit/wire/tool";
import { jsonSchema, type ToolSet, tool } from "ai";

/** A tool as the model sees it, without `execute`: the server runs it. */
interface ShownTool {
  readonly tool: ToolSet[string];
  /** Characters of its description and its schema. */
  readonly length: number;
}

/** Made when they are first shown. */
const shown = new WeakMap<Tool, ShownTool>();

const toShown = (each: Tool): ShownTool => {
  const known = shown.get(each);
  if (known) return known;
  const description = wellFormed(each.description);
  const schema = wellFormedJson(inputSchemaOf(each)) as JsonObject;
  const made: ShownTool = {
    tool: tool({ description, inputSchema: jsonSchema(schema) }),
    length: description.length + JSON.stringify(schema).length,
  };
  shown.set(each, made);
  return made;
};

/** The tools as the model sees them, always in the same order, so that providers can cache them. */
export const toToolSet = (tools: readonly Tool[]): ToolSet => {
  const sorted = tools.toSorted((one, other) => (one.name < other.name ? -1 : 1));
  return Object.fromEntries(sorted.map((each) => [each.name, toShown(each).tool]));
};

/** Characters of the tools as the model reads them, about. */
export const lengthOfTools = (tools: readonly Tool[]): number =>
  tools.reduce((sum, each) => sum + toShown(each).length, 0);
