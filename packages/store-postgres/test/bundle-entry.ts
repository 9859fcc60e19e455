export { append, defineGraph, defineState, END } from "@harnesskit/graph";
export { openPostgresStore } from "../src/index.ts";
export { write } from "./support/samples.ts";
