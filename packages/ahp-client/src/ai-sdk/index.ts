export { superviseModel } from "./supervise-model.ts";
export { superviseTools } from "./supervise-tools.ts";
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
