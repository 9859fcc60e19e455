export { ChannelServer } from "./channel-server.ts";
export { ClientSession } from "./client-session.ts";
export {
  type ConnectOptions,
  type ReconnectOptions,
  type ReconnectPolicy,
  resolveReconnect,
  type SessionCallOptions,
  type SessionState,
  type SessionWait,
} from "./client-session-options.ts";
export { causesOf, connectionEndOf, connectionFailureOf, isConnectionLoss } from "./connection-failure.ts";
export { createDispatcher, type Dispatcher } from "./dispatcher.ts";
export type { DispatcherStats } from "./dispatcher-options.ts";
export { type ExchangeCall, ExchangeConnection } from "./exchange-connection.ts";
export { KeyedLanes, Lane } from "./lane.ts";
export type { Reply, RpcReply } from "./message.ts";
export { createPeer, type Peer } from "./peer.ts";
export type { RequestOptions, RpcConnection } from "./peer-options.ts";
export { PendingRequests } from "./pending-requests.ts";
export type { RpcErrors } from "./rpc-errors.ts";
export type { Call, CallOutcome, RpcMethod, RpcMethods } from "./rpc-method.ts";
