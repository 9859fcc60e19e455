export { type CoreClient, createCoreClient } from "./core-client.ts";
export { createCoreServer } from "./core-server.ts";
