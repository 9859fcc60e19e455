export { ChannelServer, type ChannelServerOptions } from "./channel-server.ts";
export { ClientConnection, type ClientConnectionOptions } from "./client-connection.ts";
export { ClientSession } from "./client-session.ts";
export {
  type ClientSessionOptions,
  type ConnectOptions,
  type ReadyConnection,
  type ReconnectOptions,
  type ReconnectPolicy,
  resolveReconnect,
  type SessionCallOptions,
  type SessionConnection,
  type SessionState,
  type SessionWait,
} from "./client-session-options.ts";
export {
  type ConnectionFailure,
  causesOf,
  connectionEndOf,
  connectionFailureOf,
  type FailureCause,
  isConnectionLoss,
} from "./connection-failure.ts";
export { createDispatcher, type Dispatcher } from "./dispatcher.ts";
export type {
  DispatcherLimits,
  DispatcherOptions,
  DispatcherStats,
  RefusedMessage,
} from "./dispatcher-options.ts";
export {
  type ExchangeCall,
  ExchangeConnection,
  type ExchangeConnectionOptions,
} from "./exchange-connection.ts";
export type { InboundCall } from "./inbound-call.ts";
export { KeyedLanes, Lane } from "./lane.ts";
export type { ErrorReply, MessageKind, Reply, ResponseMessage, ResultReply, RpcReply } from "./message.ts";
export { createPeer, type Peer } from "./peer.ts";
export type { PeerHandlers, PeerOptions, RequestOptions } from "./peer-options.ts";
export type { RpcConnection } from "./rpc-connection.ts";
export type { RpcErrors } from "./rpc-errors.ts";
export type { Call, CallOutcome, Respond, RpcMethod, RpcMethods } from "./rpc-method.ts";
export type { OriginOptions, RpcOrigin } from "./rpc-origin.ts";
