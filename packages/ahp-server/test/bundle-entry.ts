export { createStdioChannel } from "@harnesskit/transport-stdio";
export { createAhpServer } from "../src/index.ts";
