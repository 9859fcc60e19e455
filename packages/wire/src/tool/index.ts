export { lastOutput } from "./last-output.ts";
export { inputSchemaOf, prepareCall } from "./prepare.ts";
export {
  isStandardSchema,
  type JsonSchema,
  type SchemaIssue,
  type SchemaResult,
  type StandardSchema,
  type ToolSchema,
  toJsonSchema,
} from "./schema.ts";
export { makeSideBySide } from "./side-by-side.ts";
export {
  type PreparedCall,
  type Tool,
  type ToolContext,
  type ToolEffects,
  type ToolInput,
  type ToolOutput,
  type ToolScope,
  tool,
} from "./tool.ts";
export { ToolError } from "./tool-error.ts";
