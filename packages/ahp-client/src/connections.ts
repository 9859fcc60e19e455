import type { Channel, Clock, HarnessError, Transport } from "@harnesskit/wire";
import { ConnectionClosedError, InvalidArgumentError } from "@harnesskit/wire";
import { createPeer, ExchangeConnection, type Peer, type RpcConnection } from "@harnesskit/wire/rpc";
import type { AhpExchange, HarnessEndpoint } from "./client-options.ts";

/** An open way to the harness. */
export interface HarnessConnection extends RpcConnection {
  /** What was wrong with the last message that is not an answer: a harness that sends such a thing is there. */
  readonly lastFault?: HarnessError | undefined;
}

type OnOver = (error?: HarnessError) => void;

/** How connections to the harness are opened, one after the other. */
export interface HarnessConnector {
  /** Rejects when no harness is there. */
  open(signal: AbortSignal, onOver: OnOver): Promise<HarnessConnection>;
  /** Whether another connection can follow the first. */
  readonly reopens: boolean;
  /** Notifications that may be unsettled at one time without losing their order. */
  readonly maxUnsettled: number;
}

export interface ConnectorOptions {
  readonly clock: Clock;
  /** How long a notification may take over an exchange. */
  readonly notifyTimeoutMs: () => number;
  readonly onDropped: (error: HarnessError) => void;
  /** Aborts when the client is closed. */
  readonly signal: AbortSignal;
}

const peerOver = (channel: Channel, { clock, onDropped }: ConnectorOptions, onOver: OnOver): Peer =>
  createPeer(
    channel,
    { onError: onDropped, close: ({ error }) => onOver(error) },
    { clock, answersOnly: true, requestTimeoutMs: Number.POSITIVE_INFINITY },
  );

const overTransport = (transport: Transport, options: ConnectorOptions): HarnessConnector => ({
  reopens: true,
  maxUnsettled: 256,
  open: async (signal, onOver) => peerOver(await transport.connect({ signal }), options, onOver),
});

/** An open channel cannot be replaced: only the client's own close closes it. */
const overChannel = (channel: Channel, options: ConnectorOptions): HarnessConnector => {
  let connection: Peer | undefined;
  let reportOver: OnOver = () => {};
  options.signal.addEventListener("abort", () => void (connection ?? channel).close());
  return {
    reopens: false,
    maxUnsettled: 256,
    async open(_signal, onOver) {
      if (channel.signal.aborted) throw new ConnectionClosedError("the channel is closed");
      reportOver = onOver;
      connection ??= peerOver(channel, options, (error) => reportOver(error));
      const held = connection;
      return {
        request: (method, params, call) => held.request(method, params, call),
        notify: (method, params) => held.notify(method, params),
        get lastFault() {
          return held.lastFault;
        },
        close() {},
      };
    },
  };
};

const overExchange = (exchange: AhpExchange, options: ConnectorOptions): HarnessConnector => {
  const calls = new ExchangeConnection(exchange, options);
  return {
    reopens: true,
    // Each is a message of its own: only one after the other arrive in their order.
    maxUnsettled: 1,
    // Another object each time: what fails late over a former one is no loss of this one.
    open: async () => ({
      request: (method, params, call) => calls.request(method, params, call),
      notify: (method, params) => calls.notify(method, params),
      close() {},
    }),
  };
};

/** Throws `invalid_argument` unless exactly one way is given. */
export const connectorOf = (endpoint: HarnessEndpoint, options: ConnectorOptions): HarnessConnector => {
  const { transport, channel, exchange } = endpoint;
  const [connector, another] = [
    transport && overTransport(transport, options),
    channel && overChannel(channel, options),
    exchange && overExchange(exchange, options),
  ].filter((given) => given !== undefined);
  if (connector && !another) return connector;
  throw new InvalidArgumentError("give exactly one of transport, channel and exchange");
};
