export { type AcpPrompt, withPrompt } from "./prompt.ts";
export {
  type AcpCall,
  type AcpMethod,
  acpAction,
  acpEvent,
  isAcpMethod,
  type ReadAcpOptions,
  readAcp,
} from "./read-acp.ts";
export type { AcpToolCall } from "./tool-call.ts";
