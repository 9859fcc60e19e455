export {
  type FileAuditLimits,
  type FileAuditSink,
  type FileAuditSinkOptions,
  openFileAuditSink,
} from "./file-sink.ts";
export { type AuditFilter, readAuditFile } from "./read-audit-file.ts";
export { type AuditVerification, type VerifyOptions, verifyAuditFile } from "./verify-audit-file.ts";
