import type { Channel } from "../channel.ts";
import { FaultRun } from "../codec/fault-run.ts";
import { ConnectionClosedError, type HarnessError, InvalidMessageError } from "../errors.ts";
import type { Clock } from "../time/clock.ts";
import { messageKind, type ResponseMessage } from "./message.ts";
import type { RequestOptions } from "./peer-options.ts";
import { PendingRequests } from "./pending-requests.ts";
import type { RpcConnection } from "./rpc-connection.ts";

export interface ClientConnectionOptions {
  readonly maxPendingRequests: number;
  readonly clock: Clock;
  /** Reports what was dropped: an answer that came late or to no request, or an invalid message. Must not throw. */
  readonly onDropped: (error: HarnessError) => void;
  /** The channel is closed, with an error unless in good order. Called once. */
  readonly onClose: (error?: HarnessError) => void;
}

/**
 * The client's end of a channel to another side that only answers. What is not an answer is dropped and not answered;
 * after a long run of it the channel is closed. A request that gets no answer while something else arrived rejects
 * with `invalid_message`: the other side is there.
 */
export class ClientConnection implements RpcConnection {
  readonly #channel: Channel;
  readonly #options: ClientConnectionOptions;
  readonly #pending: PendingRequests;
  readonly #faults = new FaultRun();

  /** Starts the channel. */
  constructor(channel: Channel, options: ClientConnectionOptions) {
    const { maxPendingRequests, clock, onClose } = options;
    this.#channel = channel;
    this.#options = options;
    this.#pending = new PendingRequests({
      maxPendingRequests,
      clock,
      stringIds: true,
      answersWithoutId: true,
    });
    channel.start({
      message: (message) => this.#receive(message),
      error: (error) => this.#drop(error),
      close: ({ error }) => {
        this.#pending.close(new ConnectionClosedError(undefined, error && { cause: error }));
        onClose(error);
      },
    });
  }

  /** What was wrong with the last message that is not an answer; undefined where there was none. */
  get lastFault(): HarnessError | undefined {
    return this.#pending.lastFault;
  }

  request(method: string, params: unknown, options: RequestOptions = {}): Promise<unknown> {
    return this.#pending.request(this.#channel, method, params, options);
  }

  notify(method: string, params: unknown): Promise<void> {
    return this.#channel.send({ jsonrpc: "2.0", method, params });
  }

  /** Settles what is pending at once; sends what is queued, then closes the channel. */
  close(): Promise<void> {
    this.#pending.close(new ConnectionClosedError());
    return this.#channel.close();
  }

  #receive(message: unknown): void {
    const kind = messageKind(message);
    const problem =
      kind === "request" || kind === "notification"
        ? new InvalidMessageError("not_json_rpc", "the other side only answers, and does not call")
        : this.#pending.settle(message as ResponseMessage, kind === "response" ? kind : "invalid_response");
    if (problem) this.#drop(problem);
    else this.#faults.end();
  }

  /** Something arrived that is of no use. What came late, or was cut off by the end, is not a fault of the other side. */
  #drop(error: HarnessError): void {
    const reason = "reason" in error ? error.reason : undefined;
    if (reason !== "late_answer" && reason !== "incomplete") this.#pending.fault(error);
    this.#options.onDropped(error);
    const flood = this.#faults.add();
    if (flood) void this.#channel.close(flood);
  }
}
