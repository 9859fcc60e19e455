export { withPrompt } from "./prompt.ts";
export {
  type AcpAgentMethod,
  type AcpCall,
  type AcpMethod,
  type AcpSettingMethod,
  acpAction,
  acpEvent,
  isAcpMethod,
  isAcpSettingMethod,
  readAcp,
} from "./read-acp.ts";
export {
  type AcpSetting,
  type AcpSettingChange,
  askingChanges,
  askingGap,
  loosens,
  readAcpSettings,
} from "./session-settings.ts";
export { type AcpNames, type AcpToolCall, acpNames } from "./tool-call.ts";
