// The parts of the protocol's schemas that its JSON Schema document names and its entry does not export.
export { GrantScopeSchema, ItemTypeSchema, ToolStatusSchema } from "./item.ts";
export { PromptJudgementSchema, ToolJudgementSchema } from "./judgement.ts";
export { SearchHitSchema } from "./search.ts";
export {
  FileInputSchema,
  ModelRefSchema,
  QueuedTurnSchema,
  TextInputSchema,
  TurnStatusSchema,
  UsageSchema,
  WhenBusySchema,
} from "./thread.ts";
