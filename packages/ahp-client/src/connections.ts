import {
  type Clock,
  type Exchange,
  type HarnessError,
  InvalidArgumentError,
  type Transport,
} from "@harnesskit/wire";
import { createPeer, type ExchangeCall, ExchangeConnection, type RpcConnection } from "@harnesskit/wire/rpc";

/** One message out, one reply back or none: `createHttpExchange` of transport-http is one. It may reject. */
export type AhpExchange = Exchange<ExchangeCall>;

/** The way to the harness: exactly one of the two. */
export type HarnessEndpoint =
  /** Opens channels: one, and another one after each loss. */
  | { readonly transport: Transport; readonly exchange?: undefined }
  /** Posts each message by itself. It stays its owner's to close. */
  | { readonly exchange: AhpExchange; readonly transport?: undefined };

/** How connections to the harness are opened, one after the other. */
export interface HarnessConnector {
  /** Rejects when no harness is there. */
  open(signal: AbortSignal, onOver: (error?: HarnessError) => void): Promise<RpcConnection>;
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

/** Throws `invalid_argument` unless exactly one way is given. */
export const connectorOf = (endpoint: HarnessEndpoint, options: ConnectorOptions): HarnessConnector => {
  const { transport, exchange } = endpoint;
  if (transport && !exchange) return overTransport(transport, options);
  if (exchange && !transport) return overExchange(exchange, options);
  throw new InvalidArgumentError("give exactly one of transport and exchange");
};

const overTransport = (transport: Transport, { clock, onDropped }: ConnectorOptions): HarnessConnector => ({
  maxUnsettled: 256,
  open: async (signal, onOver) =>
    createPeer(
      await transport.connect({ signal }),
      { onError: onDropped, close: ({ error }) => onOver(error) },
      { clock, answersOnly: true, requestTimeoutMs: Number.POSITIVE_INFINITY },
    ),
});

const overExchange = (exchange: AhpExchange, options: ConnectorOptions): HarnessConnector => {
  const calls = new ExchangeConnection(exchange, options);
  return {
    // Each is a message of its own: only one after the other arrive in their order.
    maxUnsettled: 1,
    // Another object each time: what fails late over a former one does not lose this one.
    open: async () => ({
      request: (method, params, call) => calls.request(method, params, call),
      notify: (method, params) => calls.notify(method, params),
      close() {},
    }),
  };
};
