export { type CoreClient, type CoreClientOptions, createCoreClient } from "./core-client.ts";
export { type CoreServer, type CoreServerOptions, createCoreServer } from "./core-server.ts";
