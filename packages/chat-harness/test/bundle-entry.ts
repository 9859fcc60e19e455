export { openSqliteStore } from "@harnesskit/store-sqlite";
export { createChatHarness } from "../src/index.ts";
export { approval, user } from "./support/graphs.ts";
