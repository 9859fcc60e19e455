export { createPeer } from "@harnesskit/wire";
export { createChildTransport, createStdioChannel } from "../src/index.ts";
