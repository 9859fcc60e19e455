export type { ModelCall, ModelStep } from "./model-apis.ts";
export { type Probe, probes } from "./probes.ts";
export { type ProgramVersionOptions, programVersion } from "./program-version.ts";
export { type ProveAgentsOptions, proveAgents } from "./prove-agents.ts";
export { documentedHost, type ProveHostOptions, proveHost } from "./prove-host.ts";
export {
  type DoctorAgent,
  DoctorAgentSchema,
  type DoctorReport,
  DoctorReportSchema,
  type DoctorRow,
  DoctorRowSchema,
} from "./report.ts";
export { type ProgramEnd, type ProgramRun, runProgram } from "./run-program.ts";
export { type HostRunParts, type HostStart, type RunnableHost, runnableHosts } from "./runnable-hosts.ts";
export {
  type ModelRequest,
  type ModelScript,
  type ScriptedModel,
  startScriptedModel,
} from "./scripted-model.ts";
