export {
  createThreadGates,
  type ThreadGates,
  type ThreadGatesOptions,
  threadGateCapabilities,
} from "./thread-gates.ts";
export type { ThreadVerdict } from "./thread-types.ts";
