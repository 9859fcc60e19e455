export { createStdioChannel } from "@harnesskit/transport-stdio";
export { createAhpServer } from "../src/index.ts";
export { openFileStateStore } from "../src/node/index.ts";
