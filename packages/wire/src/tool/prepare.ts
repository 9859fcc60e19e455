import type { JsonObject } from "@harnesskit/protocol/envelope";
import { canonicalJson } from "../json/canonical-json.ts";
import { copyJson, isObject, jsonProblem } from "../json/json.ts";
import { isStandardSchema, type SchemaIssue, toJsonSchema } from "./schema.ts";
import type { PreparedCall, Tool, ToolContext, ToolScope } from "./tool.ts";
import { ToolError } from "./tool-error.ts";

/** The JSON Schema of a tool's input, as a model is shown it. Throws `invalid_argument` for a tool without one. */
export const inputSchemaOf = ({
  name,
  input,
  inputSchema,
}: Pick<Tool, "name" | "input" | "inputSchema">): JsonObject =>
  toJsonSchema(input, { side: "input", beside: inputSchema, name: `tool ${name}: input` });

const maxIssues = 5;

/** Where a value does not fit, without the value itself. */
const describeIssue = ({ path = [], message }: SchemaIssue): string => {
  const keys = path.map((segment) => String(typeof segment === "object" ? segment.key : segment));
  return keys.length === 0 ? message : `${keys.join(".")}: ${message}`;
};

const validInput = async ({ input: schema }: Tool, value: unknown): Promise<JsonObject> => {
  if (!isStandardSchema(schema)) {
    if (!isObject(value)) throw new ToolError("tool.invalid_input", "The input must be a JSON object.");
    return copyJson<JsonObject>(value);
  }
  const result = await schema["~standard"].validate(value);
  if (!result.issues) return copyJson<JsonObject>(result.value);
  const issues = result.issues.slice(0, maxIssues).map(describeIssue);
  throw new ToolError("tool.invalid_input", `The input does not fit: ${issues.join("; ")}`);
};

const checkDepth = (input: unknown): void => {
  const problem = jsonProblem(input);
  if (problem?.code !== "too_deep") return;
  throw new ToolError("tool.invalid_input", `The input cannot be used: it ${problem.message}`);
};

/** A call is shown, digested and sent on as what it is: an input that has no canonical form cannot be. */
const checkCanonical = (input: JsonObject): void => {
  try {
    canonicalJson(input);
  } catch (cause) {
    throw new ToolError("tool.invalid_input", `The input cannot be used: ${(cause as Error).message}`, {
      cause,
    });
  }
};

/**
 * Validates and normalises a call with the tool's `prepare`, or else with its schema. A JSON Schema without `prepare`
 * only checks that the input is an object: the tool's `run` checks the rest. Throws `ToolError` `tool.invalid_input`, also
 * for an input without a canonical form, such as one with half of a surrogate pair, and for one that nests too deep.
 */
export const prepareCall = async (
  tool: Tool,
  value: unknown,
  scope: ToolScope,
): Promise<Required<Pick<PreparedCall, "input" | "run">> & PreparedCall> => {
  checkDepth(value);
  const prepared = tool.prepare ? await tool.prepare(value, scope) : { input: await validInput(tool, value) };
  checkDepth(prepared.input);
  checkCanonical(prepared.input);
  const run = async (context: ToolContext): Promise<unknown> => tool.run(prepared.input, context);
  return { ...prepared, run: prepared.run ?? run };
};
