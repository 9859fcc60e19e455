export { createChatHarness, messagesField } from "@harnesskit/chat-harness";
export { append, defineGraph, defineState, END } from "@harnesskit/graph";
export { createThreadServer } from "@harnesskit/thread-server";
export { systemClock } from "@harnesskit/wire";
export { createMemoryPair } from "@harnesskit/wire/testing";
export { openPostgresStore } from "../src/index.ts";
export { write } from "./support/samples.ts";
