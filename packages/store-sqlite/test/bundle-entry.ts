export { openSqliteStore } from "../src/index.ts";
export { added, pause, whole } from "./support/samples.ts";
