import type { BlockingEventType, HandshakeResult } from "@harnesskit/protocol/ahp";
import { type Clock, InvalidArgumentError, RequestTimeoutError } from "@harnesskit/wire";
import type { ResendOptions } from "./client-options.ts";
import { AhpFailure, isLoss, toFailure, toLineFailure, wantsHandshake } from "./errors.ts";
import type { Link, ReadyLine, WaitOptions } from "./link.ts";
import type { Origin, Renewals } from "./renewals.ts";

/** What can be called: the blocking events, and the two methods beside. */
export type CallName = BlockingEventType | "query" | "batch";

export interface CallsOptions {
  readonly link: Link;
  readonly renewals: Renewals;
  readonly clock: Clock;
  readonly maxInFlight: number;
  readonly resend: ResendOptions | undefined;
}

export interface SendOptions extends WaitOptions {
  /** Throws an {@link AhpFailure} for what this harness does not take. Called before each time that it is sent. */
  check?(harness: HandshakeResult): void;
  /** The events that the call is about. @default none */
  readonly events?: readonly Origin[];
  /** Makes of the result what the caller gets. @default the result, unchecked */
  answered?(result: unknown): unknown;
  /** Makes of a failure what the caller gets. @default the call rejects with it */
  failed?(failure: AhpFailure): unknown;
}

/** The calls that wait for answers: each until its deadline, over the line there is, or the next one. */
export class Calls {
  readonly #options: CallsOptions;
  readonly #resendable: ReadonlySet<CallName>;
  readonly #maxAttempts: number;
  #inFlight = 0;

  /** Throws `invalid_argument`. */
  constructor(options: CallsOptions) {
    const { calls = [], maxAttempts = 2 } = options.resend ?? {};
    if (!(maxAttempts >= 1)) throw new InvalidArgumentError("resend.maxAttempts is at least 1");
    this.#options = options;
    this.#resendable = new Set(calls);
    this.#maxAttempts = maxAttempts;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  /**
   * Sends a call and gives its result. A call that waits for a connection was not sent yet; one that was sent is
   * sent again only if the harness says that it did not handle it for want of a handshake, and then once, or if its caller
   * configured that for a lost connection. Rejects with an {@link AhpFailure}.
   */
  send(method: string, params: unknown, name: CallName, options: SendOptions): Promise<unknown> {
    const maxAttempts = this.#resendable.has(name) ? this.#maxAttempts : 1;
    const call = new Call(this.#options, this.#ended, maxAttempts, method, params, options);
    const { maxInFlight } = this.#options;
    if (this.#inFlight >= maxInFlight) {
      return call.refuse(new AhpFailure("overloaded", `maxInFlight of ${maxInFlight} calls is reached`));
    }
    this.#inFlight++;
    return call.run();
  }

  readonly #ended = (): void => {
    this.#inFlight--;
  };
}

/** One call, as often as it is sent. Where there is a line, it is one promise beside the line's own. */
class Call {
  readonly #options: CallsOptions;
  readonly #onEnd: () => void;
  readonly #maxAttempts: number;
  readonly #method: string;
  readonly #params: unknown;
  readonly #send: SendOptions;
  readonly #deadline: number;
  #sent = 0;
  #isRenewed = false;
  /** How much nonsense had come over the line when it was sent. */
  #nonsense = 0;

  constructor(
    options: CallsOptions,
    onEnd: () => void,
    maxAttempts: number,
    method: string,
    params: unknown,
    send: SendOptions,
  ) {
    this.#options = options;
    this.#onEnd = onEnd;
    this.#maxAttempts = maxAttempts;
    this.#method = method;
    this.#params = params;
    this.#send = send;
    this.#deadline = options.clock.now() + send.timeoutMs;
  }

  /** Fails before anything was done. */
  async refuse(failure: AhpFailure): Promise<unknown> {
    return this.#toFailed(failure);
  }

  run(): Promise<unknown> {
    const { ready } = this.#options.link;
    if (!ready) return this.#goOn();
    try {
      // The clock was read a moment ago.
      return this.#over(ready, this.#send).then(
        (result) => this.#answered(ready, result),
        (error: unknown) => this.#goOn(ready, error),
      );
    } catch (error) {
      return this.#goOn(undefined, error);
    }
  }

  /** What comes of an attempt that failed over a line, or before it; and the attempts after it. */
  async #goOn(over?: ReadyLine, error?: unknown): Promise<unknown> {
    let ready: ReadyLine;
    let result: unknown;
    try {
      if (over) await this.#mend(over, error);
      else if (error !== undefined) throw error;
      [ready, result] = await this.#attempts();
    } catch (cause) {
      return this.#failed(cause);
    }
    return this.#answered(ready, result);
  }

  async #attempts(): Promise<[ReadyLine, unknown]> {
    const { link } = this.#options;
    for (;;) {
      const ready = link.ready ?? (await link.whenReady(this.#left()));
      const answer = this.#over(ready, this.#left());
      try {
        return [ready, await answer];
      } catch (error) {
        await this.#mend(ready, error);
      }
    }
  }

  /** Throws what keeps it from being sent. */
  #over({ line, harness }: ReadyLine, wait: WaitOptions): Promise<unknown> {
    this.#send.check?.(harness);
    this.#nonsense = line.nonsense;
    const answer = line.request(this.#method, this.#params, wait);
    this.#sent++;
    return answer;
  }

  #answered({ line }: ReadyLine, result: unknown): unknown {
    this.#options.link.answered(line);
    this.#onEnd();
    return this.#send.answered ? this.#send.answered(result) : result;
  }

  #failed(error: unknown): unknown {
    this.#onEnd();
    const isClosed = this.#options.link.state === "closed";
    return this.#toFailed(
      isClosed ? new AhpFailure("closed", "the client is closed", { cause: error }) : toFailure(error),
    );
  }

  #toFailed(failure: AhpFailure): unknown {
    if (this.#send.failed) return this.#send.failed(failure);
    throw failure;
  }

  /** Does what has to be done before it is sent again. Throws where it is not. */
  async #mend(ready: ReadyLine, error: unknown): Promise<void> {
    const { link, renewals } = this.#options;
    const failure = toLineFailure(error, ready.line, this.#nonsense);
    if (failure.rpcCode !== undefined) link.answered(ready.line);
    if (isLoss(failure)) link.abandon(ready.line, failure);
    if (wantsHandshake(failure) && !this.#isRenewed) {
      this.#isRenewed = true;
      await renewals.renew(ready, this.#send.events ?? [], this.#left());
    } else if (!isLoss(failure) || this.#sent >= this.#maxAttempts) throw failure;
  }

  #left(): WaitOptions {
    const { timeoutMs, signal } = this.#send;
    const leftMs = this.#deadline - this.#options.clock.now();
    if (leftMs > 0) return { timeoutMs: leftMs, signal };
    throw new RequestTimeoutError(this.#method, timeoutMs);
  }
}
