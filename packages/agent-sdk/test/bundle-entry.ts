export { createUnixListener } from "@harnesskit/transport-uds";
export { defineAgent, ToolError, tool } from "../src/index.ts";
