export {
  type CoreClient,
  type CoreClientOptions,
  createCoreClient,
} from "./core-client.ts";
export {
  type CoreServer,
  type CoreServerLimits,
  type CoreServerOptions,
  coreServerLimits,
  createCoreServer,
  type RemoteClient,
} from "./core-server.ts";
