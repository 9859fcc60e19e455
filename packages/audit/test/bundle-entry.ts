export { openFileAuditSink } from "../src/node/index.ts";
