import { connect, type NetConnectOpts, type Socket } from "node:net";
import {
  type Channel,
  type Clock,
  InvalidArgumentError,
  RequestCancelledError,
  systemClock,
  TransportError,
} from "@harnesskit/wire";

export interface OpenChannelOptions<Context> {
  readonly target: NetConnectOpts;
  /** For errors. */
  readonly endpoint: string;
  readonly signal: AbortSignal | undefined;
  readonly connectTimeoutMs: number | undefined;
  readonly clock: Clock | undefined;
  /** Called in the moment of the connection, so that nothing of it is missed. May throw. */
  readonly toChannel: (socket: Socket) => Channel<Context>;
  /** Says what went wrong and what to do. */
  readonly toError: (cause: unknown) => TransportError;
}

/** Throws `invalid_argument` unless it is a time that can be waited. */
export const assertTimeout = (timeoutMs: number | undefined): void => {
  if (timeoutMs === undefined || timeoutMs > 0) return;
  throw new InvalidArgumentError("connectTimeoutMs is a number above 0");
};

/** Connects. Rejects with `transport_failed`, and with `request_cancelled` when the signal aborts; nothing is left open then. */
export const openChannel = <Context>(options: OpenChannelOptions<Context>): Promise<Channel<Context>> =>
  new Promise((resolve, reject) => {
    const { signal, endpoint, connectTimeoutMs = 5000, clock = systemClock } = options;
    const cancelled = () => new RequestCancelledError("connect", { cause: signal?.reason });
    if (signal?.aborted) {
      reject(cancelled());
      return;
    }
    const socket = connect({ ...options.target, allowHalfOpen: true });
    const giveUp = (error: unknown) => {
      settle();
      socket.on("error", () => {});
      socket.destroy();
      reject(error);
    };
    const onAbort = () => giveUp(cancelled());
    const onError = (cause: unknown) => giveUp(options.toError(cause));
    const onConnect = () => {
      try {
        const channel = options.toChannel(socket);
        settle();
        resolve(channel);
      } catch (error) {
        giveUp(error);
      }
    };
    const cancelTimer = clock.after(connectTimeoutMs, () =>
      giveUp(
        new TransportError(`${endpoint} did not answer within ${connectTimeoutMs} ms: is its server stuck?`),
      ),
    );
    const settle = () => {
      cancelTimer();
      signal?.removeEventListener("abort", onAbort);
      socket.off("error", onError);
      socket.off("connect", onConnect);
    };
    signal?.addEventListener("abort", onAbort, { once: true });
    socket.once("error", onError);
    socket.once("connect", onConnect);
  });
