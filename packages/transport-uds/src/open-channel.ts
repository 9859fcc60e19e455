import { connect, type NetConnectOpts, type Socket } from "node:net";
import { type Channel, TransportError } from "@harnesskit/wire";
import { type Clock, settleWithin } from "@harnesskit/wire/time";

export interface OpenChannelOptions<Context> {
  readonly target: NetConnectOpts;
  /** For errors. */
  readonly endpoint: string;
  readonly signal: AbortSignal | undefined;
  readonly connectTimeoutMs: number | undefined;
  readonly clock: Clock | undefined;
  /** Called when the connection opens, so that no byte of it is missed. May throw. */
  readonly toChannel: (socket: Socket) => Channel<Context>;
  /** Says what went wrong and what to do. */
  readonly toError: (cause: unknown) => TransportError;
}

/** Connects. Rejects with `transport_failed`, and with `request_cancelled` when the signal aborts; nothing is left open then. */
export const openChannel = async <Context>(
  options: OpenChannelOptions<Context>,
): Promise<Channel<Context>> => {
  const { target, endpoint, signal, connectTimeoutMs: timeoutMs = 5000, clock } = options;
  const open = (abort: AbortSignal) =>
    new Promise<Channel<Context>>((resolve, reject) => {
      const socket = connect({ ...target, allowHalfOpen: true });
      const fail = (error: unknown) => {
        socket.destroy();
        reject(error);
      };
      abort.addEventListener("abort", () => socket.destroy(), { once: true });
      const onError = (cause: unknown) => fail(options.toError(cause));
      socket.on("error", onError);
      socket.once("connect", () => {
        try {
          const channel = options.toChannel(socket);
          socket.off("error", onError);
          resolve(channel);
        } catch (error) {
          fail(error);
        }
      });
    });
  const opened = await settleWithin(open, { name: "connect", timeoutMs, signal, clock });
  if (opened.status === "done") return opened.value;
  if (opened.status !== "timed_out") throw opened.error;
  throw new TransportError(`${endpoint} did not answer within ${timeoutMs} ms: is its server stuck?`);
};
