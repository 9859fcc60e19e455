import {
  type Channel,
  type Clock,
  ConnectionClosedError,
  createPeer,
  FaultRun,
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

/** What a harness sent that belongs to no call, counted; so much of it in a row that it is not read any further. */
class Nonsense {
  count = 0;
  /** What was wrong with the last of it. */
  last: string | undefined;
  readonly #run = new FaultRun();
  readonly #onDropped: OnDropped;

  constructor(onDropped: OnDropped) {
    this.#onDropped = onDropped;
  }

  /** An answer that came too late, or was cut off by an end, is none of it. Gives the error to close the connection with, once there are too many. */
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
 * The channel as a harness may use it. A harness only answers, so what is no answer is dropped and never answered
 * back; an answer with neither result nor error is made one that the peer refuses at once, instead of none.
 */
const answersOnly = <Context>(channel: Channel<Context>, nonsense: Nonsense): Channel<Context> => {
  const drop = (error: HarnessError): void => {
    const flood = nonsense.drop(error);
    if (flood) void channel.close(flood);
  };
  return {
    start: (handlers) =>
      channel.start({
        ...handlers,
        message(message) {
          if (typeof message !== "object" || message === null || Array.isArray(message)) {
            return drop(noMessage("what the harness sent is no answer"));
          }
          const { id, method, result, error } = message as Fields;
          if (method !== undefined && method !== null) {
            return drop(noMessage("a harness does not call an agent"));
          }
          nonsense.answered();
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

type OnOver = (error: HarnessError | undefined) => void;

const openPeer = (channel: Channel, options: PeerLineOptions, nonsense: Nonsense, onOver: OnOver): Peer =>
  createPeer(
    answersOnly(channel, nonsense),
    { unexpected: (error) => void nonsense.drop(error), close: ({ error }) => onOver(error) },
    {
      stringIds: true,
      // The id of what a harness could not read is "".
      attributesErrors: true,
      // One more than the calls, for a handshake beside them.
      maxPendingRequests: options.maxInFlight + 1,
      clock: options.clock,
    },
  );

const toLine = (peer: Peer, nonsense: Nonsense, discard: () => void): Line => ({
  window: 256,
  request: (method, params, { timeoutMs, signal }: LineRequestOptions) =>
    peer.request(method, params, signal ? { timeoutMs, signal } : { timeoutMs }),
  notify: (method, params) => peer.notify(method, params),
  get nonsense() {
    return nonsense.count;
  },
  get lastNonsense() {
    return nonsense.last;
  },
  discard,
});

/** Lines over the channels of a transport, one after the other. */
export const transportSource = (transport: Transport, options: PeerLineOptions): LineSource => {
  const open = new Set<Peer>();
  return {
    reopens: true,
    async open(signal, onOver) {
      const nonsense = new Nonsense(options.onDropped);
      const peer = openPeer(await transport.connect({ signal }), options, nonsense, onOver);
      open.add(peer);
      void peer.closed.then(() => open.delete(peer));
      return toLine(peer, nonsense, () => void peer.close());
    },
    close: async () => {
      await Promise.all([...open].map((peer) => peer.close()));
    },
  };
};

/** The line over a channel that is there. It cannot be replaced, so that nothing discards it; only its owner closes it. */
export const channelSource = (channel: Channel, options: PeerLineOptions): LineSource => {
  const nonsense = new Nonsense(options.onDropped);
  let peer: Peer | undefined;
  let tellOver: OnOver = () => {};
  return {
    reopens: false,
    async open(_signal, onOver) {
      if (channel.signal.aborted) throw new ConnectionClosedError("the channel is closed");
      tellOver = onOver;
      peer ??= openPeer(channel, options, nonsense, (error) => tellOver(error));
      return toLine(peer, nonsense, () => {});
    },
    close: () => (peer ?? channel).close(),
  };
};
