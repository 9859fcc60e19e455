import { defineOptions } from "@harnesskit/wire";
import type { MemoryAuditSinkOptions } from "./memory-sink.ts";
import type { FileAuditSinkOptions } from "./node/file-sink.ts";
import type { RedactorOptions } from "./redactor.ts";

export const checkMemoryAuditSinkOptions = defineOptions<MemoryAuditSinkOptions>("createMemoryAuditSink", {
  limits: false,
  redactor: false,
  clock: false,
});

export const checkFileAuditSinkOptions = defineOptions<FileAuditSinkOptions>("openFileAuditSink", {
  path: true,
  limits: false,
  redactor: false,
  clock: false,
  onError: false,
});

export const checkRedactorOptions = defineOptions<RedactorOptions>("createRedactor", {
  secretKeys: false,
  secrets: false,
});
