import type { Channel, CloseReason } from "../channel.ts";
import type { HarnessError } from "../errors.ts";
import { checkCode, checkRejects, checkSame, checkThat, settled } from "./contract-error.ts";

/** One end of a connection: its channel, what it reported, and waits that are bounded. */
export class ContractEnd {
  readonly messages: unknown[] = [];
  readonly errors: HarnessError[] = [];
  readonly closes: CloseReason[] = [];
  ends = 0;
  /** Called with each message; what it returns or throws is what the channel gets. */
  onMessage: ((message: unknown) => void | Promise<void>) | undefined;
  #reportsAfterClose = 0;
  #wake: (() => void) | undefined;

  constructor(
    readonly name: "client" | "server",
    readonly channel: Channel,
    readonly timeoutMs: number,
  ) {}

  /** Starts the channel; without `end` its handlers know no end. */
  start({ end = true } = {}): void {
    const noted = () => {
      if (this.closes.length > 0) this.#reportsAfterClose++;
      this.#wake?.();
    };
    this.channel.start({
      message: (message) => {
        this.messages.push(message);
        noted();
        return this.onMessage?.(message);
      },
      error: (error) => {
        this.errors.push(error);
        noted();
      },
      end: end
        ? () => {
            this.ends++;
            noted();
          }
        : undefined,
      close: (reason) => {
        this.closes.push(reason);
        this.#wake?.();
      },
    });
  }

  settles<T>(promise: Promise<T>, what: string): Promise<T> {
    return settled(promise, `the ${this.name}, ${what}`, this.timeoutMs);
  }

  /** Sends all at once. */
  async send(...messages: unknown[]): Promise<void> {
    await this.settles(Promise.all(messages.map((message) => this.channel.send(message))), "sending");
  }

  close(error?: HarnessError): Promise<void> {
    return this.settles(this.channel.close(error), "closing");
  }

  /** Sending this is refused with the code. */
  async refuses(message: unknown, code: string, what: string): Promise<void> {
    await this.settles(checkRejects(this.channel.send(message), code, what), what);
  }

  async until(condition: () => boolean, what: string): Promise<void> {
    if (condition()) return;
    const held = new Promise<void>((resolve) => {
      this.#wake = () => {
        if (condition()) resolve();
      };
    });
    await this.settles(held, `waiting for ${what}`);
  }

  /** These messages arrive, and no others before them. */
  async receives(expected: readonly unknown[]): Promise<void> {
    await this.until(() => this.messages.length >= expected.length, `${expected.length} messages`);
    checkSame(this.messages, expected, `messages to the ${this.name}`);
  }

  /** The other side is done: this one sees an end or a close. */
  seesEnd(): Promise<void> {
    return this.until(() => this.ends + this.closes.length > 0, "the end of the other side");
  }

  /** Something is refused with the code: reported, or the reason of a close. */
  async reports(code: string): Promise<HarnessError | undefined> {
    await this.until(() => this.errors.length + this.closes.length > 0, "the refusal");
    const error = this.errors[0] ?? this.closes[0]?.error;
    checkCode(error, code, "the refusal");
    return error;
  }

  /** The close handler was called once and last, and the other ways to see the close agree. Returns the reason. */
  async isClosed(): Promise<HarnessError | undefined> {
    await this.until(() => this.closes.length > 0, "the close handler");
    const { error } = await this.settles(this.channel.closed, "`closed`");
    checkSame(this.closes.length, 1, `calls of the ${this.name}'s close handler`);
    checkSame(this.#reportsAfterClose, 0, `reports after the ${this.name}'s close handler`);
    checkThat(error === this.closes[0]?.error, `the ${this.name}'s \`closed\` has another reason`);
    checkThat(this.channel.signal.aborted, `the ${this.name}'s signal is not aborted`);
    return error;
  }

  async isClosedInGoodOrder(): Promise<void> {
    const error = await this.isClosed();
    checkThat(error === undefined, `a close in good order has an error at the ${this.name}`);
  }
}
