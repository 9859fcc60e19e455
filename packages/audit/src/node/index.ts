export {
  type FileAuditLimits,
  type FileAuditSink,
  type FileAuditSinkOptions,
  fileAuditLimits,
  openFileAuditSink,
} from "./file-sink.ts";
export { type AuditFilter, readAuditFile } from "./read-audit-file.ts";
export {
  type AuditIntact,
  type AuditProblem,
  type AuditProblemKind,
  type AuditVerification,
  type VerifyOptions,
  verifyAuditFile,
} from "./verify-audit-file.ts";
