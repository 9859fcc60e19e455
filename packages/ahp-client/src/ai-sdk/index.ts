export { superviseModel } from "./supervise-model.ts";
export { superviseTools } from "./supervise-tools.ts";
export {
  SupervisionError,
  type SupervisionErrorCode,
  type SupervisionErrorDetails,
} from "./supervision-error.ts";
export type {
  EscalationAnswer,
  EscalationRequest,
  SupervisingClient,
  SupervisionOptions,
} from "./supervision-options.ts";
