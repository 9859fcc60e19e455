export { createStdioChannel } from "@harnesskit/transport-stdio";
export { createTestServer } from "./support/test-server.ts";
