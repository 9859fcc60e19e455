import { createHash } from "node:crypto";
import {
  type RuntimeError,
  RuntimeErrorCode,
  type ToolDeclaration,
  ToolDeclarationSchema,
  ToolIdSchema,
} from "@harnesskit/protocol/runtime";
import { canonicalJson } from "@harnesskit/wire";
import type { CoreLimits } from "./core-limits.ts";
import { exceedsBytes, isObject, measureJson } from "./measure-json.ts";
import type { JudgedSchema, ToolInfo } from "./registered-tool.ts";
import { toSafeSchema } from "./safe-schema.ts";

/** A declaration that can be registered, or what is wrong with it. */
export type ToolJudgement =
  | {
      readonly ok: true;
      readonly info: ToolInfo;
      readonly length: number;
      readonly input: JudgedSchema;
      readonly output: JudgedSchema | undefined;
    }
  | { readonly ok: false; readonly error: RuntimeError };

/** The schemas are walked by hand: they may be large, and are judged more strictly than as any JSON object. */
const WithoutSchemas = ToolDeclarationSchema.omit({ input_schema: true, output_schema: true });

const refuse = (code: RuntimeErrorCode, message: string, path?: string): ToolJudgement => ({
  ok: false,
  error: { code, message, where: "core.registry", ...(path !== undefined && { details: { path } }) },
});

const digestOf = (text: string): string => `sha256:${createHash("sha256").update(text).digest("hex")}`;

/** What a declaration holds beside its schemas and its description, roughly. */
const restLength = 512;

/** Judges one entry of `agent.tools.register` on its own. Takes time linear in its size; nothing is compiled. */
export const judgeTool = (
  declared: Readonly<Record<string, unknown>>,
  agentId: string,
  limits: CoreLimits,
): ToolJudgement => {
  const measured = measureJson(declared);
  if (!measured) return refuse(RuntimeErrorCode.InvalidTool, "the declaration is no JSON");
  if (exceedsBytes(declared, measured.bytes, limits.maxToolBytes)) {
    return refuse(RuntimeErrorCode.ToolTooLarge, `the declaration exceeds ${limits.maxToolBytes} bytes`);
  }
  const { tool_id: toolId, input_schema: inputSchema, output_schema: outputSchema } = declared;
  if (!ToolIdSchema.safeParse(toolId).success || !String(toolId).startsWith(`${agentId}/`)) {
    return refuse(RuntimeErrorCode.NotNamespaced, `a tool's id is ${agentId}/ and its name`);
  }
  const parsed = WithoutSchemas.safeParse(declared);
  if (!parsed.success) {
    const path = parsed.error.issues[0]?.path.join("/") ?? "";
    return refuse(RuntimeErrorCode.InvalidTool, "the declaration is malformed", `/${path}`);
  }
  if (`${agentId}/${parsed.data.name}` !== toolId) {
    return refuse(RuntimeErrorCode.InvalidTool, "the name is not the end of the tool's id", "/name");
  }
  if (!isObject(inputSchema)) {
    return refuse(RuntimeErrorCode.InvalidTool, "a schema is an object", "/input_schema");
  }
  if (outputSchema !== undefined && !isObject(outputSchema)) {
    return refuse(RuntimeErrorCode.InvalidTool, "a schema is an object", "/output_schema");
  }
  return judgeSchemas(
    {
      ...parsed.data,
      input_schema: inputSchema,
      ...(outputSchema && { output_schema: outputSchema }),
    } as ToolDeclaration,
    agentId,
    limits,
  );
};

const judgeSchemas = (declaration: ToolDeclaration, agentId: string, limits: CoreLimits): ToolJudgement => {
  const input = toSafeSchema(declaration.input_schema, limits);
  if (!input.ok) {
    return refuse(
      RuntimeErrorCode.InvalidTool,
      `input_schema: ${input.problem}`,
      `/input_schema${input.path}`,
    );
  }
  const output = declaration.output_schema && toSafeSchema(declaration.output_schema, limits);
  if (output && !output.ok) {
    return refuse(
      RuntimeErrorCode.InvalidTool,
      `output_schema: ${output.problem}`,
      `/output_schema${output.path}`,
    );
  }
  let inputText: string;
  let outputText: string;
  try {
    inputText = canonicalJson(declaration.input_schema);
    outputText = declaration.output_schema ? canonicalJson(declaration.output_schema) : "";
  } catch {
    return refuse(RuntimeErrorCode.InvalidTool, "a schema holds text that is no Unicode");
  }
  return {
    ok: true,
    info: {
      ...declaration,
      agent_id: agentId,
      schema_digest: digestOf(`${inputText}\n${outputText}`),
      unchecked_patterns: input.uncheckedPatterns + (output?.uncheckedPatterns ?? 0),
    },
    length: restLength + declaration.description.length + inputText.length + outputText.length,
    input: { digest: digestOf(inputText), safe: input },
    output: output && { digest: digestOf(outputText), safe: output },
  };
};
