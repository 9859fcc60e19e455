export { redactedPlaceholder } from "@harnesskit/wire";
export { AuditError, type AuditErrorCode } from "./audit-error.ts";
export { type AuditHead, formatHead, parseHead } from "./audit-head.ts";
export type { AuditEntry, AuditEntryInput, AuditOutcome } from "./entry.ts";
export {
  type FoundSecret,
  findSecrets,
  isCertainSecret,
  isSecretKey,
  type RedactSecretsOptions,
  redactSecrets,
  type SecretKind,
} from "./find-secrets.ts";
export type { AuditEntryLimits, MemoryAuditLimits } from "./limits.ts";
export { createMemoryAuditSink, type MemoryAuditSink, type MemoryAuditSinkOptions } from "./memory-sink.ts";
export { createRedactor, type Redactor, type RedactorOptions } from "./redactor.ts";
export type { AuditSink } from "./sink.ts";
