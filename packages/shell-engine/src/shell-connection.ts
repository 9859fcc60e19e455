import type { ShellResponse } from "@harnesskit/protocol/openharness";
import { type Channel, createDeferred, type Deferred, FaultRun, HarnessError } from "@harnesskit/wire";

/** What a connection needs of its engine. */
export interface ShellConnectionOptions<Context> {
  readonly handle: (message: unknown, context: Context) => Promise<ShellResponse>;
  readonly malformed: (error: HarnessError) => ShellResponse;
  readonly unsendable: (reply: unknown, error: HarnessError) => ShellResponse;
  /** Requests that are not answered, or whose responses are not sent; then the channel is not read. */
  readonly maxPending: number;
  /** Must not throw. */
  readonly onError: (error: unknown) => void;
}

/**
 * The channel's context with the channel's signal, unless it has one of its own: a shell that goes away ends its calls. An
 * object of a class stays as it is.
 */
const contextOf = <Context>({ context, signal }: Channel<Context>): Context => {
  if (context === undefined || context === null) return { signal } as Context;
  const isPlain = typeof context === "object" && Object.getPrototypeOf(context) === Object.prototype;
  return isPlain ? { signal, ...context } : context;
};

const unsendableCodes: ReadonlySet<string> = new Set(["frame_too_large", "invalid_argument"]);

/** One shell on a channel. Requests are handled at the same time; each response goes out when it is there. */
export class ShellConnection<Context> {
  readonly #channel: Channel<Context>;
  readonly #context: Context;
  readonly #options: ShellConnectionOptions<Context>;
  readonly #faults = new FaultRun();
  #pending = 0;
  /** Nothing more comes: what is pending is answered, then the channel is closed. */
  #isEnding = false;
  #room: Deferred<void> | undefined;

  constructor(channel: Channel<Context>, options: ShellConnectionOptions<Context>) {
    this.#channel = channel;
    this.#context = contextOf(channel);
    this.#options = options;
  }

  start(): void {
    this.#channel.start({
      message: (message) => this.#receive(message),
      error: (error) => this.#fault(error),
      end: () => void this.close(),
      close: () => this.#room?.resolve(),
    });
  }

  /** Answers what is pending, then closes the channel. Settles when it is closed. */
  async close(): Promise<void> {
    this.#isEnding = true;
    this.#progressed();
    await this.#channel.closed;
  }

  #receive(message: unknown): void | Promise<void> {
    if (typeof message === "object" && message !== null) this.#faults.end();
    else this.#flooded();
    this.#pending++;
    void this.#answer(this.#options.handle(message, this.#context));
    if (this.#pending < this.#options.maxPending || this.#channel.signal.aborted) return;
    this.#room ??= createDeferred<void>();
    return this.#room.promise;
  }

  /** What arrived is not a message: the shell hears so, without a `request_id`. */
  #fault(error: HarnessError): void {
    this.#flooded();
    this.#pending++;
    void this.#answer(Promise.resolve(this.#options.malformed(error)));
  }

  /** A shell that sends only what is not a message is not read any further. */
  #flooded(): void {
    const flood = this.#faults.add();
    if (flood) void this.#channel.close(flood);
  }

  /** Never rejects. */
  async #answer(answered: Promise<ShellResponse>): Promise<void> {
    const { unsendable, onError } = this.#options;
    try {
      const response = await answered;
      await this.#channel.send(response).catch((error: unknown) => {
        if (!HarnessError.isInstance(error) || !unsendableCodes.has(error.code)) throw error;
        return this.#channel.send(unsendable(response, error));
      });
    } catch (error) {
      // The response of a request with an id is remembered: the shell can ask again on another channel.
      if (HarnessError.isInstance(error) && error.code === "connection_closed") return;
      onError(error);
      void this.#channel.close(HarnessError.isInstance(error) ? error : undefined);
    } finally {
      this.#pending--;
      this.#progressed();
    }
  }

  #progressed(): void {
    if (this.#room && this.#pending < this.#options.maxPending) {
      this.#room.resolve();
      this.#room = undefined;
    }
    if (this.#isEnding && this.#pending === 0) void this.#channel.close();
  }
}
