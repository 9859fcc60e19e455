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
  readonly check?: (harness: HandshakeResult) => void;
  /** The events that the call is about. @default none */
  readonly events?: readonly Origin[];
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
   * Sends a call and gives its result, unchecked. A call that waits for a connection was not sent yet; one that was sent is
   * sent again only if the harness says that it did not handle it for want of a handshake, and then once, or if its caller
   * configured that for a lost connection. Rejects with an {@link AhpFailure}.
   */
  send(method: string, params: unknown, name: CallName, options: SendOptions): Promise<unknown> {
    const { maxInFlight } = this.#options;
    if (this.#inFlight >= maxInFlight) {
      return Promise.reject(new AhpFailure("overloaded", `maxInFlight of ${maxInFlight} calls is reached`));
    }
    this.#inFlight++;
    return new Call(
      this.#options,
      this.#resendable.has(name) ? this.#maxAttempts : 1,
      method,
      params,
      options,
    )
      .attempt()
      .then(this.#answered, this.#failed);
  }

  readonly #answered = (result: unknown): unknown => {
    this.#inFlight--;
    return result;
  };

  readonly #failed = (error: unknown): never => {
    this.#inFlight--;
    if (this.#options.link.state !== "closed") throw toFailure(error);
    throw new AhpFailure("closed", "the client is closed", { cause: error });
  };
}

/** One call, as often as it is sent. Where there is a line, an attempt is one promise beside the line's own. */
class Call {
  readonly #options: CallsOptions;
  readonly #maxAttempts: number;
  readonly #method: string;
  readonly #params: unknown;
  readonly #send: SendOptions;
  readonly #deadline: number;
  #sent = 0;
  #isRenewed = false;

  constructor(
    options: CallsOptions,
    maxAttempts: number,
    method: string,
    params: unknown,
    send: SendOptions,
  ) {
    this.#options = options;
    this.#maxAttempts = maxAttempts;
    this.#method = method;
    this.#params = params;
    this.#send = send;
    this.#deadline = options.clock.now() + send.timeoutMs;
  }

  attempt(): Promise<unknown> {
    const { ready } = this.#options.link;
    // The clock was read a moment ago.
    if (ready) return this.#over(ready, this.#sent === 0 ? this.#send : undefined);
    return this.#whenReady();
  }

  async #whenReady(): Promise<unknown> {
    return this.#over(await this.#options.link.whenReady(this.#left()));
  }

  #over(ready: ReadyLine, wait?: WaitOptions): Promise<unknown> {
    const { line, harness } = ready;
    try {
      this.#send.check?.(harness);
      const { nonsense } = line;
      const answer = line.request(this.#method, this.#params, wait ?? this.#left());
      this.#sent++;
      return answer.then(
        (result) => {
          this.#options.link.answered(line);
          return result;
        },
        (error: unknown) => this.#failed(ready, toLineFailure(error, line.nonsense - nonsense)),
      );
    } catch (error) {
      return Promise.reject(error);
    }
  }

  async #failed(ready: ReadyLine, failure: AhpFailure): Promise<unknown> {
    const { link, renewals } = this.#options;
    if (failure.code === "harness_error") link.answered(ready.line);
    if (isLoss(failure)) link.abandon(ready.line, failure);
    if (wantsHandshake(failure) && !this.#isRenewed) {
      this.#isRenewed = true;
      await renewals.renew(ready, this.#send.events ?? [], this.#left());
    } else if (!isLoss(failure) || this.#sent >= this.#maxAttempts) throw failure;
    return this.attempt();
  }

  #left(): WaitOptions {
    const { timeoutMs, signal } = this.#send;
    const leftMs = this.#deadline - this.#options.clock.now();
    if (leftMs > 0) return { timeoutMs: leftMs, signal };
    throw new RequestTimeoutError(this.#method, timeoutMs);
  }
}
