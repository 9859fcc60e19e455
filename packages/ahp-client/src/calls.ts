import type { BlockingEventType, HandshakeResult } from "@harnesskit/protocol/ahp";
import { type Clock, InvalidArgumentError, RequestTimeoutError } from "@harnesskit/wire";
import type { ResendOptions } from "./client-options.ts";
import { AhpFailure, isLoss, toFailure, toLineFailure, wantsHandshake } from "./errors.ts";
import type { HarnessSession, Origin } from "./harness-session.ts";

/** What can be called: the blocking events, and the two methods beside. */
export type CallName = BlockingEventType | "query" | "batch";

export interface CallsOptions {
  readonly session: HarnessSession;
  readonly clock: Clock;
  readonly maxInFlight: number;
  readonly resend: ResendOptions | undefined;
}

export interface SendOptions {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  /** Throws an {@link AhpFailure} for what this harness does not take. Called before each time that it is sent. */
  check?(harness: HandshakeResult): void;
  /** The events that the call is about. @default none */
  readonly events?: readonly Origin[] | undefined;
}

/** The calls that wait for answers: each until its deadline, over the current line or the next one. */
export class Calls {
  readonly #options: CallsOptions;
  readonly #resendable: ReadonlySet<CallName>;
  readonly #maxAttempts: number;
  #inFlight = 0;

  /** Throws `invalid_argument`. */
  constructor(options: CallsOptions) {
    const { calls = [], maxAttempts = 2 } = options.resend ?? {};
    if (!(maxAttempts >= 1)) throw new InvalidArgumentError("resend.maxAttempts must be at least 1");
    this.#options = options;
    this.#resendable = new Set(calls);
    this.#maxAttempts = maxAttempts;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  /**
   * Sends a call and returns its result, unchecked. A call that waits for a connection was not sent yet; one that was sent is
   * sent again only once where the harness did not handle it for want of a handshake, or if its caller
   * configured that for a lost connection. Rejects with an {@link AhpFailure}.
   */
  async send(method: string, params: unknown, name: CallName, options: SendOptions): Promise<unknown> {
    const { session, clock, maxInFlight } = this.#options;
    if (this.#inFlight >= maxInFlight) {
      throw new AhpFailure("overloaded", `maxInFlight of ${maxInFlight} calls is reached`);
    }
    const { timeoutMs, signal, check, events = [] } = options;
    const maxAttempts = this.#resendable.has(name) ? this.#maxAttempts : 1;
    const deadline = clock.elapsedMs() + timeoutMs;
    const left = () => {
      const leftMs = deadline - clock.elapsedMs();
      if (leftMs > 0) return { timeoutMs: leftMs, signal };
      throw new RequestTimeoutError(method, timeoutMs);
    };
    let isRenewed = false;
    this.#inFlight++;
    try {
      for (let sent = 1; ; sent++) {
        const ready = session.ready ?? (await session.whenReady(left()));
        const { connection: line } = ready;
        const { count } = line.unexpected;
        check?.(ready.introduction);
        try {
          const result = await line.request(method, params, left());
          session.answered(ready);
          return result;
        } catch (error) {
          const failure = toLineFailure(error, line, count);
          session.failed(ready, failure);
          if (wantsHandshake(failure) && !isRenewed) {
            isRenewed = true;
            await session.renew(ready, events, left());
          } else if (!isLoss(failure) || sent >= maxAttempts) throw failure;
        }
      }
    } catch (cause) {
      throw session.state === "closed"
        ? new AhpFailure("closed", "the client is closed", { cause })
        : toFailure(cause);
    } finally {
      this.#inFlight--;
    }
  }
}
