export { createChildTransport, createStdioChannel } from "@harnesskit/transport-stdio";
export { createAhpClient } from "../src/index.ts";
export { createTestServer } from "./support/test-server.ts";
