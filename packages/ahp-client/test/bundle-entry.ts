export { createChildTransport } from "@harnesskit/transport-stdio";
export { createAhpClient } from "../src/index.ts";
