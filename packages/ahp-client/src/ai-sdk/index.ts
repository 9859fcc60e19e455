export {
  SupervisionError,
  type SupervisionErrorCode,
  type SupervisionErrorDetails,
} from "../supervise/supervision-error.ts";
export {
  type EscalationAnswer,
  type EscalationRequest,
  type SupervisingClient,
  type SupervisionLimits,
  type SupervisionOptions,
  supervisionLimits,
} from "../supervise/supervision-options.ts";
export { superviseModel } from "./supervise-model.ts";
export { superviseTools } from "./supervise-tools.ts";
