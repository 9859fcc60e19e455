export {
  type AuditSync,
  type FileAuditLimits,
  type FileAuditSink,
  type FileAuditSinkOptions,
  fileLimits,
} from "./file-sink-options.ts";
export type { AuditFileSystem } from "./file-system.ts";
export { openFileAuditSink } from "./open-file-audit-sink.ts";
export { type AuditFilter, readAuditFile } from "./read-audit-file.ts";
export { verifyAuditFile } from "./verify-audit-file.ts";
