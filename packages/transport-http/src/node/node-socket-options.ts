import type { SocketChannelOptions } from "../socket/socket-channel.ts";

/** What both ends of a WebSocket in Node can set. */
export interface NodeSocketOptions extends SocketChannelOptions {
  /** How often the other side is pinged. @default 30000 */
  readonly pingIntervalMs?: number;
  /** How long a pinged side may be silent before the connection is cut. @default 10000 */
  readonly pongTimeoutMs?: number;
  /** Compresses messages (permessage-deflate). It costs memory for each connection. @default false */
  readonly compression?: boolean;
}
