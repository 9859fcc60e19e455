export type { SessionState } from "@harnesskit/wire/rpc";
export { createAhpClient } from "./ahp-client.ts";
export type { AhpClient, AhpClientOptions } from "./client-options.ts";
export type { AhpExchange, HarnessEndpoint } from "./connections.ts";
export { AhpFailure, AhpUsageError, type FailureCode, type UsageErrorCode } from "./errors.ts";
export { type ChangeableField, describeLeftover, leftoverOf, readModification } from "./modification.ts";
export { SupervisionError, type SupervisionErrorCode } from "./supervise/supervision-error.ts";
export type { SupervisionOptions } from "./supervise/supervision-options.ts";
export { createSupervisor, type Supervisor } from "./supervise/supervisor.ts";
