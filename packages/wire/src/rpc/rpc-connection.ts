import type { RequestOptions } from "./peer-options.ts";

/** An open way to call the other side, over a channel or an exchange. A `Peer` is one. Knows no method. */
export interface RpcConnection {
  /** Calls the other side. Resolves with the result as it came, unchecked. Rejects as `Peer.request` does. */
  request(method: string, params?: unknown, options?: RequestOptions): Promise<unknown>;
  /** Settles when the transport has the notification; over an exchange, when the other side took it. */
  notify(method: string, params?: unknown): Promise<void>;
  /** Ends it; calls in progress are settled. Idempotent. */
  close(): unknown;
}
