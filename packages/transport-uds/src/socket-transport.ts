import { connect, type NetConnectOpts, type Socket } from "node:net";
import { type Channel, checkNumber, type Transport, TransportError } from "@harnesskit/wire";
import { settleWithin } from "@harnesskit/wire/time";
import { type SocketTransportOptions, socketChannels } from "./socket-channel.ts";

/** The other side of a transport's connections. */
export interface SocketTarget<Context> {
  readonly address: NetConnectOpts;
  /** For errors. */
  readonly endpoint: string;
  /** What is known of a connection that was made. May throw. */
  readonly contextOf: (socket: Socket) => Context;
  /** Says what went wrong and what to do. */
  readonly toError: (cause: unknown) => TransportError;
}

/**
 * A transport over sockets. Throws `invalid_argument` for options that cannot be used. `connect` rejects with `transport_failed`, and
 * with `request_cancelled` when the signal aborts; nothing is left open then.
 */
export const socketTransport = <Context>(
  options: SocketTransportOptions,
  { address, endpoint, contextOf, toError }: SocketTarget<Context>,
): Transport<Context> => {
  const { connectTimeoutMs: timeoutMs = 5000, clock } = options;
  checkNumber("connectTimeoutMs", timeoutMs);
  const toChannel = socketChannels<Context>(options);
  const open = (abort: AbortSignal) =>
    new Promise<Channel<Context>>((resolve, reject) => {
      const socket = connect({ ...address, allowHalfOpen: true });
      const fail = (error: unknown) => {
        socket.destroy();
        reject(error);
      };
      abort.addEventListener("abort", () => socket.destroy(), { once: true });
      const onError = (cause: unknown) => fail(toError(cause));
      socket.on("error", onError);
      socket.once("connect", () => {
        try {
          // At once, so that no byte of the connection is missed.
          const channel = toChannel(socket, contextOf(socket));
          socket.off("error", onError);
          resolve(channel);
        } catch (error) {
          fail(error);
        }
      });
    });
  return {
    async connect({ signal } = {}) {
      const opened = await settleWithin(open, { name: "connect", timeoutMs, signal, clock });
      if (opened.status === "done") return opened.value;
      if (opened.status !== "timed_out") throw opened.error;
      throw new TransportError(`${endpoint} did not answer within ${timeoutMs} ms: is its server stuck?`);
    },
  };
};
