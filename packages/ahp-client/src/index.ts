export { createAhpClient } from "./ahp-client.ts";
export type {
  AhpClient,
  AhpClientOptions,
  AhpClientStats,
  CallOptions,
  GateEventType,
  HarnessEndpoint,
  NotificationReceipt,
  QueryPayload,
  ResendOptions,
} from "./client-options.ts";
export type { CallClass, DeadlineOptions } from "./deadlines.ts";
export {
  AhpFailure,
  type AhpFailureOptions,
  AhpUsageError,
  type FailureCode,
  type UsageErrorCode,
} from "./errors.ts";
export type { BatchEvent, EventFields, FullEvent } from "./events.ts";
export type { AhpExchange, ExchangeCall } from "./exchange-line.ts";
export type { FailOpenDecisions, OnFailOpen } from "./fail-open.ts";
export type { HeartbeatState } from "./heartbeat.ts";
export type { AhpClientLimits, HarnessLimits } from "./limits.ts";
export type { ClientState } from "./link.ts";
export type { LossReport } from "./losses.ts";
export {
  type ChangeableField,
  describeLeftover,
  leftoverOf,
  type Modification,
  readModification,
} from "./modification.ts";
export type { ReconnectOptions } from "./reconnect.ts";
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
export { type ClientVerdict, type HarnessVerdict, refusingDecision, type Verdict } from "./verdict.ts";
