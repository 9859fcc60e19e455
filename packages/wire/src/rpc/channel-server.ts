import type { Channel, CloseReason } from "../channel.ts";
import { FaultRun } from "../codec/fault-run.ts";
import { createDeferred, type Deferred } from "../deferred.ts";
import type { HarnessError } from "../errors.ts";

export interface ChannelServerOptions<Answer> {
  /** Takes what is not answered, such as an answer to this side, and returns what is left for `receive`; undefined for nothing. Must not throw. */
  readonly take?: ((message: unknown) => unknown) | undefined;
  /** Takes one message and calls `respond` once, with its answer, or undefined without one. Must not throw. */
  readonly receive: (
    message: unknown,
    respond: (answer: Answer | undefined, method?: string) => void,
  ) => void;
  /** Reports what arrived in place of a message, and returns the answer to it, if it has one. */
  readonly malformed: (error: HarnessError) => Answer | undefined;
  /** The answer in place of one that cannot be sent (`frame_too_large`, `invalid_argument`); undefined closes the channel. */
  readonly unsendable: (answer: Answer, error: HarnessError, method?: string) => Answer | undefined;
  /** Messages that are not answered; then the channel is not read. */
  readonly maxPending: number;
  /** Whether an answer counts as pending until the other side has taken it. @default false */
  readonly countsUnsent?: boolean | undefined;
  /** Reports an answer that could not be sent. Must not throw. */
  readonly onError: (error: HarnessError) => void;
  /** The other side sends no more. @default `finish` */
  readonly onEnd?: (() => void) | undefined;
  readonly onClose?: ((reason: CloseReason) => void) | undefined;
}

const unsendableCodes: ReadonlySet<string> = new Set(["frame_too_large", "invalid_argument"]);

/**
 * Serves messages of a channel: each answer goes out when it is there, a reader that is too fast is held back, and one that
 * sends only what is not a message loses its channel.
 */
export class ChannelServer<Answer> {
  readonly #channel: Channel;
  readonly #options: ChannelServerOptions<Answer>;
  readonly #faults = new FaultRun();
  #unanswered = 0;
  #unsent = 0;
  /** Answers that leave together share a promise, and are counted together. */
  #leaving: { readonly sent: Promise<void>; count: number } | undefined;
  #room: Deferred<void> | undefined;
  #isFinishing = false;

  constructor(channel: Channel, options: ChannelServerOptions<Answer>) {
    this.#channel = channel;
    this.#options = options;
  }

  start(): void {
    const { onEnd, onClose, malformed } = this.#options;
    this.#channel.start({
      message: (message) => this.#receive(message),
      error: (error) => {
        const answer = malformed(error);
        if (answer !== undefined) this.#send(answer, 1);
      },
      end: () => (onEnd ? onEnd() : this.finish()),
      close: (reason) => {
        this.#room?.resolve();
        onClose?.(reason);
      },
    });
  }

  /** Answers what is pending, then closes the channel. */
  finish(): void {
    this.#isFinishing = true;
    this.#progressed();
  }

  /** Says whether the last message was a valid one: a long run of others closes the channel. */
  note(isValid: boolean): void {
    if (isValid) {
      this.#faults.end();
      return;
    }
    const flood = this.#faults.add();
    if (flood) void this.#channel.close(flood);
  }

  get #pending(): number {
    return this.#unanswered + (this.#options.countsUnsent ? this.#unsent : 0);
  }

  #receive(received: unknown): void | Promise<void> {
    const { take } = this.#options;
    const message = take ? take(received) : received;
    if (message === undefined) return;
    const weight = Array.isArray(message) ? message.length : 1;
    this.#unanswered += weight;
    const respond = (answer: Answer | undefined, method?: string): void => {
      this.#unanswered -= weight;
      if (answer !== undefined) this.#send(answer, weight, method);
      this.#progressed();
    };
    this.#options.receive(message, respond);
    if (this.#pending < this.#options.maxPending || this.#channel.signal.aborted) return;
    this.#room ??= createDeferred<void>();
    return this.#room.promise;
  }

  #send(answer: Answer, weight: number, method?: string): void {
    if (this.#channel.signal.aborted) return;
    this.#unsent += weight;
    const sent = this.#channel.send(answer);
    if (this.#leaving?.sent === sent) {
      this.#leaving.count += weight;
      return;
    }
    const group = { sent, count: weight };
    this.#leaving = group;
    const settled = (): void => {
      this.#unsent -= group.count;
      if (this.#leaving === group) this.#leaving = undefined;
      this.#progressed();
    };
    sent.then(settled, (error: HarnessError) => {
      this.#failed(answer, error, weight, method);
      settled();
    });
  }

  /** An open channel that loses answers would mislead: it is closed where no other answer can be sent. */
  #failed(answer: Answer, error: HarnessError, weight: number, method: string | undefined): void {
    if (error.code === "connection_closed") return;
    const { unsendable, onError } = this.#options;
    const instead = unsendableCodes.has(error.code) ? unsendable(answer, error, method) : undefined;
    if (instead !== undefined) {
      this.#send(instead, weight, method);
      return;
    }
    onError(error);
    void this.#channel.close(error);
  }

  #progressed(): void {
    if (this.#room && this.#pending < this.#options.maxPending) {
      this.#room.resolve();
      this.#room = undefined;
    }
    if (this.#isFinishing && this.#unanswered === 0) void this.#channel.close();
  }
}
