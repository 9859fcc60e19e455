export { createChatHarness, messagesField } from "@harnesskit/chat-harness";
export { append, defineGraph, defineState, END } from "@harnesskit/graph";
export { systemClock } from "@harnesskit/wire";
export { openPostgresStore } from "../src/index.ts";
export { write } from "./support/samples.ts";
