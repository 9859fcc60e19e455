export { createPeer } from "@harnesskit/wire/rpc";
export { createChildTransport, createStdioChannel } from "../src/index.ts";
