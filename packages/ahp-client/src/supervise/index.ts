export {
  SupervisionError,
  type SupervisionErrorCode,
  type SupervisionErrorDetails,
} from "./supervision-error.ts";
export {
  type EscalationAnswer,
  type EscalationRequest,
  type SupervisingClient,
  type SupervisionLimits,
  type SupervisionOptions,
  supervisionLimits,
} from "./supervision-options.ts";
export {
  createSupervisor,
  type ModelRun,
  type Question,
  type Supervisor,
  type ToolRun,
} from "./supervisor.ts";
