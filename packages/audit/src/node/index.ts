export {
  type FileAuditLimits,
  type FileAuditSink,
  openFileAuditSink,
} from "./file-sink.ts";
export { type AuditFilter, readAuditFile } from "./read-audit-file.ts";
export { type VerifyOptions, verifyAuditFile } from "./verify-audit-file.ts";
