import { type Clock, InvalidArgumentError } from "@harnesskit/wire";
import type { HarnessEndpoint } from "./client-options.ts";
import { exchangeSource } from "./exchange-line.ts";
import type { LineSource, OnDropped } from "./line.ts";
import { channelSource, transportSource } from "./peer-line.ts";

export interface EndpointOptions {
  readonly clock: Clock;
  readonly maxInFlight: number;
  /** How long a notification may take over an exchange. */
  readonly notifyTimeoutMs: () => number;
  readonly onDropped: OnDropped;
}

/** The way to the harness that the caller chose. Throws `invalid_argument` for none, and for several. */
export const sourceOf = (
  { transport, channel, exchange }: HarnessEndpoint,
  options: EndpointOptions,
): LineSource => {
  const [source, another] = [
    transport && transportSource(transport, options),
    channel && channelSource(channel, options),
    exchange && exchangeSource(exchange, options),
  ].filter((given) => given !== undefined);
  if (source && !another) return source;
  throw new InvalidArgumentError("exactly one of transport, channel and exchange is given");
};
