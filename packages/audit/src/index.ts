export { redactedPlaceholder } from "@harnesskit/wire";
export { AuditError } from "./audit-error.ts";
export { type AuditHead, formatHead, parseHead } from "./audit-head.ts";
export type { AuditEntry, AuditEntryInput, AuditOutcome } from "./entry.ts";
export {
  findSecrets,
  isCertainSecret,
  isSecretKey,
  redactSecrets,
} from "./find-secrets.ts";
export type { AuditEntryLimits } from "./limits.ts";
export { createMemoryAuditSink, type MemoryAuditSink } from "./memory-sink.ts";
export { createRedactor, type Redactor } from "./redactor.ts";
export type { AuditSink } from "./sink.ts";
