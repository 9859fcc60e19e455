import {
  type Channel,
  type Clock,
  ConnectionClosedError,
  FaultRun,
  type HarnessError,
  InvalidMessageError,
  type Transport,
} from "@harnesskit/wire";
import { createPeer, type Peer } from "@harnesskit/wire/rpc";
import type { Line, LineSource, OnDropped, UnexpectedCount } from "./line.ts";

interface Fields {
  readonly id?: unknown;
  readonly method?: unknown;
  readonly result?: unknown;
  readonly error?: unknown;
}

const notAnAnswer = (text: string) => new InvalidMessageError("not_json_rpc", text);

/** Counts what a harness sent that belongs to no call; after too much of it in a row the connection is closed. */
class UnexpectedMessages implements UnexpectedCount {
  count = 0;
  last: string | undefined;
  readonly #run = new FaultRun();
  readonly #onDropped: OnDropped;

  constructor(onDropped: OnDropped) {
    this.#onDropped = onDropped;
  }

  /** Late answers, and messages that the end cut off, do not count. Returns the error to close the connection with, once there are too many. */
  readonly drop = (error: HarnessError): HarnessError | undefined => {
    const reason = "reason" in error ? error.reason : undefined;
    if (reason !== "late_answer" && reason !== "incomplete") {
      this.count++;
      this.last = error.message;
    }
    this.#onDropped(error);
    return this.#run.add();
  };

  answered(): void {
    this.#run.end();
  }
}

/**
 * The channel as a harness may use it. A harness only answers, so anything else is dropped and never answered
 * back; an answer with neither result nor error becomes one that the peer refuses at once.
 */
const answersOnly = <Context>(
  channel: Channel<Context>,
  unexpected: UnexpectedMessages,
): Channel<Context> => {
  const drop = (error: HarnessError): void => {
    const flood = unexpected.drop(error);
    if (flood) void channel.close(flood);
  };
  return {
    start: (handlers) =>
      channel.start({
        ...handlers,
        message(message) {
          if (typeof message !== "object" || message === null || Array.isArray(message)) {
            return drop(notAnAnswer("the harness sent something that is not an answer"));
          }
          const { id, method, result, error } = message as Fields;
          if (method !== undefined && method !== null) {
            return drop(notAnAnswer("a harness does not call an agent"));
          }
          unexpected.answered();
          if (result === undefined && (error === undefined || error === null)) {
            return handlers.message({ jsonrpc: "2.0", id, error: "missing" });
          }
          return handlers.message(message);
        },
        error: drop,
      }),
    send: (message) => channel.send(message),
    close: (error) => channel.close(error),
    closed: channel.closed,
    signal: channel.signal,
    context: channel.context,
  };
};

export interface PeerLineOptions {
  readonly maxInFlight: number;
  readonly clock: Clock;
  readonly onDropped: OnDropped;
}

type OnOver = (error?: HarnessError) => void;

const openPeer = (
  channel: Channel,
  { maxInFlight, clock }: PeerLineOptions,
  unexpected: UnexpectedMessages,
  onOver: OnOver,
): Peer =>
  createPeer(
    answersOnly(channel, unexpected),
    { onError: (error) => void unexpected.drop(error), close: ({ error }) => onOver(error) },
    {
      stringIds: true,
      // The id of what a harness could not read is "".
      attributesErrors: true,
      // One more than the calls, for a handshake beside them.
      maxPendingRequests: maxInFlight + 1,
      clock,
    },
  );

const toLine = (peer: Peer, unexpected: UnexpectedCount, close: () => void): Line => ({
  window: 256,
  request: (method, params, { timeoutMs, signal }) =>
    peer.request(method, params, signal ? { timeoutMs, signal } : { timeoutMs }),
  notify: (method, params) => peer.notify(method, params),
  unexpected,
  close,
});

/** Lines over the channels of a transport, one after the other. */
export const transportSource = (transport: Transport, options: PeerLineOptions): LineSource => {
  const open = new Set<Peer>();
  return {
    reopens: true,
    async open(signal, onOver) {
      const unexpected = new UnexpectedMessages(options.onDropped);
      const peer = openPeer(await transport.connect({ signal }), options, unexpected, onOver);
      open.add(peer);
      void peer.closed.then(() => open.delete(peer));
      return toLine(peer, unexpected, () => void peer.close());
    },
    close: async () => {
      await Promise.all([...open].map((peer) => peer.close()));
    },
  };
};

/** The line over an open channel. It cannot be replaced, so only the client's own close ends it. */
export const channelSource = (channel: Channel, options: PeerLineOptions): LineSource => {
  const unexpected = new UnexpectedMessages(options.onDropped);
  let peer: Peer | undefined;
  let reportOver: OnOver = () => {};
  return {
    reopens: false,
    async open(_signal, onOver) {
      if (channel.signal.aborted) throw new ConnectionClosedError("the channel is closed");
      reportOver = onOver;
      peer ??= openPeer(channel, options, unexpected, (error) => reportOver(error));
      return toLine(peer, unexpected, () => {});
    },
    close: () => (peer ?? channel).close(),
  };
};
