import type { Channel, CloseReason, Transport } from "../channel.ts";
import { createDeferred } from "../deferred.ts";
import { HarnessError, TransportError } from "../errors.ts";
import { matches } from "./matches.ts";
import { createMemoryPair, type MemoryPairOptions, type MemoryWire } from "./memory-pair.ts";

/** One thing that the other side does. */
export type ScriptStep =
  /** Waits for the next message, which has to match: at least these keys, a function judges its place. */
  | { readonly expect: unknown }
  /** Sends a message. A function makes it of the messages received so far, the newest last. */
  | { readonly send: unknown | ((received: readonly unknown[]) => unknown) }
  /** Sends these bytes, which need not be a message. */
  | { readonly raw: Uint8Array | string }
  /** Sends no more, and still reads. */
  | { readonly end: true }
  /** Waits until the other side sends no more. */
  | { readonly expectEnd: true }
  /** Closes in good order. */
  | { readonly close: true }
  /** Is gone without a word. */
  | { readonly kill: true };

/** What happened is not what the script says. */
export class ScriptDeviationError extends HarnessError {
  override readonly name = "ScriptDeviationError";
  constructor(
    /** The step, from 0, at which it happened; the number of steps when the script was over. */
    readonly step: number,
    message: string,
    options?: { cause?: unknown },
  ) {
    super("script_deviation", `step ${step}: ${message}`, options);
  }
}

export interface ScriptedTransport<Context = unknown> extends Transport<Context> {
  /**
   * Resolves when the last step is done. Rejects with `script_deviation` when a message does not match or comes
   * where the script expects none, or when the connection closes before the end of the script. A deviation after the
   * last step is found by {@link ScriptedTransport.verify}.
   */
  readonly done: Promise<void>;
  /** Throws `script_deviation` unless the script is done and nothing came after it. */
  verify(): void;
  /** What the other side has received so far. */
  readonly received: readonly unknown[];
}

/** Plays one script against one channel. */
class ScriptRun {
  readonly received: unknown[] = [];
  readonly #finished = createDeferred<void>();
  readonly done = this.#finished.promise;
  deviation: ScriptDeviationError | undefined;
  #at = 0;
  /** How many of `received` were expected. */
  #expected = 0;
  #ended = false;
  #closed: CloseReason | undefined;
  #wake = createDeferred<void>();

  constructor(
    readonly script: readonly ScriptStep[],
    readonly channel: Channel,
    readonly wire: MemoryWire,
  ) {}

  get isDone(): boolean {
    return this.#at === this.script.length;
  }

  get at(): number {
    return this.#at;
  }

  start(): void {
    this.channel.start({
      message: (message) => {
        this.received.push(message);
        if (this.isDone) this.#deviate("a message came that nothing expects");
        this.#wake.resolve();
      },
      error: (cause) => this.#deviate("something arrived that is no message", cause),
      end: () => {
        this.#ended = true;
        this.#wake.resolve();
      },
      close: (reason) => {
        this.#closed = reason;
        this.#wake.resolve();
      },
    });
    this.#play().catch((cause: unknown) => this.#deviate("the step failed", cause));
  }

  async #play(): Promise<void> {
    for (const step of this.script) {
      await this.#take(step);
      if (this.deviation) return;
      this.#at++;
    }
    if (this.received.length > this.#expected) this.#deviate("a message came that nothing expects");
    else this.#finished.resolve();
  }

  async #take(step: ScriptStep): Promise<void> {
    if ("expect" in step) await this.#expect(step.expect);
    else if ("expectEnd" in step) await this.#until(() => this.#ended);
    else if ("send" in step) {
      const message: unknown = typeof step.send === "function" ? step.send(this.received) : step.send;
      await this.channel.send(message);
    } else if ("raw" in step) this.wire.writeRaw(step.raw);
    else if ("end" in step) this.wire.end();
    else if ("kill" in step) this.wire.kill();
    // Done once it is asked for: the other side may take its time to close as well.
    else void this.channel.close();
  }

  async #expect(expected: unknown): Promise<void> {
    await this.#until(() => this.received.length > this.#expected);
    if (this.deviation) return;
    const message = this.received[this.#expected++];
    if (!matches(message, expected)) {
      this.#deviate(`expected ${JSON.stringify(expected)}, got ${JSON.stringify(message)}`);
    }
  }

  /** Waits for the other side, as long as anything can come from it. */
  async #until(happened: () => boolean): Promise<void> {
    while (!happened() && !this.deviation) {
      if (this.#closed)
        return this.#deviate("the connection closed before the script was over", this.#closed.error);
      if (this.#ended) return this.#deviate("the other side sends no more, but the script is not over");
      this.#wake = createDeferred<void>();
      await this.#wake.promise;
    }
  }

  #deviate(message: string, cause?: unknown): void {
    if (this.deviation) return;
    this.deviation = new ScriptDeviationError(this.#at, message, cause === undefined ? {} : { cause });
    this.#finished.reject(this.deviation);
    this.#wake.resolve();
    this.wire.kill();
  }
}

/**
 * Makes a transport whose other side follows a script. It connects once; a second `connect` rejects with
 * `transport_failed`. When the script is over the connection stays open, unless its last step closed it.
 */
export const createScriptedTransport = <Context = unknown>(
  script: readonly ScriptStep[],
  options: MemoryPairOptions<Context> = {},
): ScriptedTransport<Context> => {
  const { client, server, serverWire } = createMemoryPair(options);
  const run = new ScriptRun(script, server, serverWire);
  let connected = false;
  return {
    done: run.done,
    received: run.received,
    async connect() {
      if (connected) throw new TransportError("a scripted transport connects once");
      connected = true;
      run.start();
      return client;
    },
    verify() {
      if (run.deviation) throw run.deviation;
      if (!run.isDone) throw new ScriptDeviationError(run.at, "the script is not over");
    },
  };
};
