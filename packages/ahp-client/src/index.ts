export type { ExchangeCall, ReconnectOptions, SessionState } from "@harnesskit/wire/rpc";
export { createAhpClient } from "./ahp-client.ts";
export {
  type AhpCallOptions,
  type AhpClient,
  type AhpClientLimits,
  type AhpClientOptions,
  type AhpClientStats,
  type AhpConnectOptions,
  type AhpErrorContext,
  type AhpExchange,
  ahpClientLimits,
  type HarnessEndpoint,
  type NotificationReceipt,
  type QueryPayload,
  type ResendOptions,
} from "./client-options.ts";
export type { CallClass, DeadlineOptions } from "./deadlines.ts";
export {
  AhpFailure,
  type AhpFailureOptions,
  AhpUsageError,
  type FailureCode,
  type UsageErrorCode,
} from "./errors.ts";
export type { BatchEvent, EventFields } from "./events.ts";
export type { AhpHarnessLimits } from "./harness-limits.ts";
export type { HeartbeatState } from "./heartbeat.ts";
export {
  type ClientVerdict,
  type FailOpenDecisions,
  type HarnessVerdict,
  type OnFailOpen,
  refusingDecision,
  type Verdict,
} from "./judge.ts";
export type { LossReport } from "./loss-report.ts";
export {
  type ChangeableField,
  describeLeftover,
  leftoverOf,
  type Modification,
  readModification,
} from "./modification.ts";
export {
  createRunReporter,
  type ReportingClient,
  type RunDetails,
  type RunReporter,
  type RunReporterOptions,
} from "./reporters/run-reporter.ts";
export type { NewTask, TaskDetails, TaskListReporter } from "./reporters/task-list-reporter.ts";
export {
  ReporterError,
  type ReporterErrorCode,
  type ReporterErrorDetails,
  runTransitions,
  type Transitions,
  taskTransitions,
  verificationTransitions,
} from "./reporters/transitions.ts";
export type {
  CheckDetails,
  NewCheck,
  VerificationDetails,
  VerificationReporter,
} from "./reporters/verification-reporter.ts";
export {
  SupervisionError,
  type SupervisionErrorCode,
  type SupervisionErrorDetails,
} from "./supervise/supervision-error.ts";
export {
  type EscalationAnswer,
  type EscalationRequest,
  type SupervisingClient,
  type SupervisionLimits,
  type SupervisionOptions,
  supervisionLimits,
} from "./supervise/supervision-options.ts";
export {
  createSupervisor,
  type ModelRun,
  type Question,
  type Supervisor,
  type ToolRun,
} from "./supervise/supervisor.ts";
