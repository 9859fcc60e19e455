export { programVersion } from "./program-version.ts";
export { proveAgents } from "./prove-agents.ts";
export { proveHost } from "./prove-host.ts";
export { type DoctorAgent, type DoctorReport, DoctorReportSchema, type DoctorRow } from "./report.ts";
export { type ProgramEnd, runProgram } from "./run-program.ts";
export { runnableHosts } from "./runnable-hosts.ts";
export { type ModelScript, startScriptedModel } from "./scripted-model.ts";
