import {
  type Channel,
  type Clock,
  ConnectionClosedError,
  createPeer,
  type HarnessError,
  InvalidMessageError,
  type Peer,
  type Transport,
} from "@harnesskit/wire";
import type { Line, LineRequestOptions, LineSource, OnDropped } from "./line.ts";

interface Fields {
  readonly id?: unknown;
  readonly method?: unknown;
  readonly result?: unknown;
  readonly error?: unknown;
}

const noMessage = (text: string) => new InvalidMessageError("not_json_rpc", text);

/**
 * The channel as a harness may use it. A harness only answers, so what is no answer is dropped and never answered
 * back; an answer with neither result nor error is made one that the peer refuses at once, instead of none.
 */
const answersOnly = <Context>(channel: Channel<Context>, onDropped: OnDropped): Channel<Context> => ({
  start: (handlers) =>
    channel.start({
      ...handlers,
      message(message) {
        if (typeof message !== "object" || message === null || Array.isArray(message)) {
          return onDropped(noMessage("what the harness sent is no answer"));
        }
        const { id, method, result, error } = message as Fields;
        if (method !== undefined) return onDropped(noMessage("a harness does not call an agent"));
        if (result === undefined && error === undefined) {
          return handlers.message({ jsonrpc: "2.0", id, error: "missing" });
        }
        return handlers.message(message);
      },
      error: onDropped,
    }),
  send: (message) => channel.send(message),
  close: (error) => channel.close(error),
  closed: channel.closed,
  signal: channel.signal,
  context: channel.context,
});

export interface PeerLineOptions {
  readonly maxInFlight: number;
  readonly clock: Clock;
  readonly onDropped: OnDropped;
}

type OnOver = (error: HarnessError | undefined) => void;

const openPeer = (channel: Channel, options: PeerLineOptions, onOver: OnOver): Peer =>
  createPeer(
    answersOnly(channel, options.onDropped),
    { unexpected: options.onDropped, close: ({ error }) => onOver(error) },
    // One more than the calls, for a handshake beside them.
    { stringIds: true, maxPendingRequests: options.maxInFlight + 1, clock: options.clock },
  );

const toLine = (peer: Peer, discard: () => void): Line => ({
  window: 256,
  request: (method, params, { timeoutMs, signal }: LineRequestOptions) =>
    peer.request(method, params, signal ? { timeoutMs, signal } : { timeoutMs }),
  notify: (method, params) => peer.notify(method, params),
  discard,
});

/** Lines over the channels of a transport, one after the other. */
export const transportSource = (transport: Transport, options: PeerLineOptions): LineSource => {
  const open = new Set<Peer>();
  return {
    reopens: true,
    async open(signal, onOver) {
      const peer = openPeer(await transport.connect({ signal }), options, onOver);
      open.add(peer);
      void peer.closed.then(() => open.delete(peer));
      return toLine(peer, () => void peer.close());
    },
    close: async () => {
      await Promise.all([...open].map((peer) => peer.close()));
    },
  };
};

/** The line over a channel that is there. It cannot be replaced, so that nothing discards it; only its owner closes it. */
export const channelSource = (channel: Channel, options: PeerLineOptions): LineSource => {
  let peer: Peer | undefined;
  let tellOver: OnOver = () => {};
  return {
    reopens: false,
    async open(_signal, onOver) {
      if (channel.signal.aborted) throw new ConnectionClosedError("the channel is closed");
      tellOver = onOver;
      peer ??= openPeer(channel, options, (error) => tellOver(error));
      return toLine(peer, () => {});
    },
    close: () => (peer ?? channel).close(),
  };
};
