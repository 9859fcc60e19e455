export { createUnixListener, createUnixTransport } from "../src/index.ts";
