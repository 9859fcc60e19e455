// The parts of the protocol's schemas that its JSON Schema document names and its entry does not export.

export {
  AssistantMessageSchema,
  SystemMessageSchema,
  ToolCallSchema,
  ToolMessageSchema,
  UserMessageSchema,
} from "./chat-message.ts";
export { DispatchPathSchema, ErrorBucketSchema, SuspendedTurnSchema } from "./chat-turn-outcome.ts";
export {
  AssistantBlockSchema,
  ContentBlockSchema,
  ImageBlockSchema,
  ImageSourceSchema,
  RedactedThinkingBlockSchema,
  TextBlockSchema,
  ThinkingBlockSchema,
  UserBlockSchema,
} from "./content-block.ts";
export {
  AcceptedSignalSchema,
  CompletedPositionSchema,
  SessionListSchema,
  SessionRecordSchema,
  SessionSummarySchema,
  SuspensionFrameSchema,
  SuspensionSummarySchema,
} from "./records.ts";
