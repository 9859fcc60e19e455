export type { ExchangeCall, ReconnectOptions, SessionState } from "@harnesskit/wire/rpc";
export { createAhpClient } from "./ahp-client.ts";
export type {
  AhpClient,
  AhpClientLimits,
  AhpClientOptions,
  AhpExchange,
  HarnessEndpoint,
} from "./client-options.ts";
export { AhpFailure, AhpUsageError, type FailureCode, type UsageErrorCode } from "./errors.ts";
export {
  type ChangeableField,
  describeLeftover,
  leftoverOf,
  type Modification,
  readModification,
} from "./modification.ts";
export { ReporterError, type ReporterErrorCode, type ReportingClient } from "./reporters/contract-sender.ts";
export { createRunReporter, type RunReporter, type RunReporterOptions } from "./reporters/run-reporter.ts";
export { SupervisionError, type SupervisionErrorCode } from "./supervise/supervision-error.ts";
export type {
  SupervisingClient,
  SupervisionLimits,
  SupervisionOptions,
} from "./supervise/supervision-options.ts";
export { createSupervisor, type Supervisor } from "./supervise/supervisor.ts";
