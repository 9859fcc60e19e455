// The parts of the protocol's schemas that its JSON Schema document names and its entry does not export.

export { FactSchema } from "./common.ts";
export {
  DomainSchema,
  FreshnessSchema,
  IntentSchema,
  ModalitySchema,
  TargetSchema,
  UrgencySchema,
} from "./context-values.ts";
export {
  ArtifactSchema,
  EvidenceSchema,
  RunStatusSchema,
  TaskSchema,
  TaskStatusSchema,
  VerificationCheckSchema,
  VerificationStatusSchema,
} from "./contracts.ts";
export { PromptPayloadSchema, ToolCallPayloadSchema } from "./conventional-payloads.ts";
export {
  ConfirmationDecisionSchema,
  ContextPerceptionDecisionSchema,
  IdleDecisionSchema,
  InjectedContextSchema,
  IntentDetectionDecisionSchema,
  MemoryRecallDecisionSchema,
  PlanningDecisionSchema,
  RateLimitDecisionSchema,
  ReasoningDecisionSchema,
} from "./decisions.ts";
export { AhpTaxonomySchema } from "./event-types.ts";
export {
  BatchParamsSchema,
  BatchResultSchema,
  HandshakeParamsSchema,
  HarnessConfigSchema,
} from "./methods.ts";
export {
  ConfirmationPayloadSchema,
  ConfirmationTypeSchema,
  ContextPerceptionPayloadSchema,
  IdlePayloadSchema,
  IntentDetectionPayloadSchema,
  LimitTypeSchema,
  MemoryRecallPayloadSchema,
  PlanningPayloadSchema,
  PlanningStrategySchema,
  RateLimitPayloadSchema,
  ReasoningPayloadSchema,
  ReasoningTypeSchema,
  SuccessPayloadSchema,
} from "./payloads.ts";
