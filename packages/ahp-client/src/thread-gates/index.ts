export { type ControlHandlers, followControl } from "./follow-control.ts";
export {
  createThreadGates,
  type ThreadGates,
  type ThreadGatesOptions,
  threadGateCapabilities,
} from "./thread-gates.ts";
export type { ThreadVerdict } from "./thread-types.ts";
