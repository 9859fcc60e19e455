import type { BlockingEventType, HandshakeResult } from "@harnesskit/protocol/ahp";
import { type Clock, InvalidArgumentError, RequestTimeoutError } from "@harnesskit/wire";
import type { ResendOptions } from "./client-options.ts";
import { AhpFailure, isLoss, toFailure, toLineFailure, wantsHandshake } from "./errors.ts";
import type { Link, WaitOptions } from "./link.ts";
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
  async send(method: string, params: unknown, name: CallName, options: SendOptions): Promise<unknown> {
    const { maxInFlight, link } = this.#options;
    if (this.#inFlight >= maxInFlight) {
      throw new AhpFailure("overloaded", `maxInFlight of ${maxInFlight} calls is reached`);
    }
    this.#inFlight++;
    try {
      return await this.#attempts(method, params, name, options);
    } catch (error) {
      if (link.state === "closed") throw new AhpFailure("closed", "the client is closed", { cause: error });
      throw toFailure(error);
    } finally {
      this.#inFlight--;
    }
  }

  async #attempts(method: string, params: unknown, name: CallName, options: SendOptions): Promise<unknown> {
    const { link, renewals, clock } = this.#options;
    const { timeoutMs, signal, check, events = [] } = options;
    const deadline = clock.now() + timeoutMs;
    const left = (): WaitOptions => {
      const leftMs = deadline - clock.now();
      if (leftMs > 0) return { timeoutMs: leftMs, signal };
      throw new RequestTimeoutError(method, timeoutMs);
    };
    let sent = 0;
    let isRenewed = false;
    for (;;) {
      const ready = link.ready ?? (await link.whenReady(left()));
      const { line, harness } = ready;
      check?.(harness);
      const wait = left();
      const { nonsense } = line;
      sent++;
      try {
        const result = await line.request(method, params, wait);
        link.answered(line);
        return result;
      } catch (error) {
        const failure = toLineFailure(error, line.nonsense - nonsense);
        if (failure.code === "harness_error") link.answered(line);
        if (isLoss(failure)) link.abandon(line, failure);
        if (wantsHandshake(failure) && !isRenewed) {
          isRenewed = true;
          await renewals.renew(ready, events, left());
        } else if (!isLoss(failure) || !this.#resendable.has(name) || sent >= this.#maxAttempts)
          throw failure;
      }
    }
  }
}
