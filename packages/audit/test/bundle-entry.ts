export { createFileAuditSink } from "../src/node/index.ts";
