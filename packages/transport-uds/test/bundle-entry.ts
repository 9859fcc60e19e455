export { createTcpListener, createUnixListener, createUnixTransport } from "../src/index.ts";
