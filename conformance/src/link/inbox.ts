import { Unmet } from "../errors.ts";

/** How long to wait, in milliseconds. */
export interface Wait {
  readonly within: number;
  /** How long once anything has come, where `within` gives the target time to start. */
  readonly afterFirst?: number | undefined;
}

/** One message of the target, as it came. */
export interface Received {
  readonly value: unknown;
  taken: boolean;
}

/** How a connection ended, where the target ended it. */
export interface LinkEnd {
  /** The exit code of a target over stdio; null after a signal. */
  readonly exitCode?: number | null;
  readonly reason: string;
}

/** The messages that came over one connection, in order, and who waits for them. */
export class Inbox {
  readonly messages: Received[] = [];
  /** What came and was not a message, as the codec says. */
  readonly noise: string[] = [];
  #end: LinkEnd | undefined;
  readonly #maxMessages: number;
  readonly #waiting = new Set<() => void>();

  constructor(maxMessages: number) {
    this.#maxMessages = maxMessages;
  }

  get end(): LinkEnd | undefined {
    return this.#end;
  }

  add(value: unknown): void {
    if (this.messages.length < this.#maxMessages) this.messages.push({ value, taken: false });
    this.#wake();
  }

  addNoise(text: string): void {
    if (this.noise.length < 100) this.noise.push(text);
  }

  close(end: LinkEnd): void {
    this.#end ??= end;
    this.#wake();
  }

  /** Takes the first message for which `isWanted` holds. Rejects with {@link Unmet} when none comes in time. */
  async take(isWanted: (value: unknown) => boolean, what: string, wait: Wait): Promise<unknown> {
    const find = () => this.messages.find((message) => !message.taken && isWanted(message.value));
    const found = await this.#until(find, what, wait);
    found.taken = true;
    return found.value;
  }

  /** Takes every message up to and including the first for which `isLast` holds. */
  async gather(isLast: (value: unknown) => boolean, what: string, wait: Wait): Promise<unknown[]> {
    const find = () => this.messages.find((message) => !message.taken && isLast(message.value));
    const last = await this.#until(find, what, wait);
    const taken = this.messages.slice(0, this.messages.indexOf(last) + 1).filter((message) => !message.taken);
    for (const message of taken) message.taken = true;
    return taken.map(({ value }) => value);
  }

  /** The first message that was not taken and for which `isUnwanted` holds, if one comes within the time. */
  async watch(isUnwanted: (value: unknown) => boolean, withinMs: number): Promise<Received | undefined> {
    const find = () => this.messages.find((message) => !message.taken && isUnwanted(message.value));
    return await this.#until(find, "a message", { within: withinMs }).catch(() => undefined);
  }

  async ended(withinMs: number): Promise<LinkEnd> {
    return await this.#until(() => this.#end, "the end of the connection", { within: withinMs }, true);
  }

  #wake(): void {
    for (const wake of [...this.#waiting]) wake();
  }

  #until<T>(find: () => T | undefined, what: string, wait: Wait, isEnd = false): Promise<T> {
    return new Promise((resolve, reject) => {
      let { within, afterFirst } = wait;
      const settle = (): void => {
        clearTimeout(timer);
        this.#waiting.delete(look);
      };
      const look = (): void => {
        const found = find();
        if (found !== undefined) {
          settle();
          resolve(found);
        } else if (this.#end !== undefined && !isEnd) {
          settle();
          reject(new Unmet(`the connection ended (${this.#end.reason}) before ${what}`, true));
        } else if (afterFirst !== undefined && this.messages.length > 0) {
          within = afterFirst;
          afterFirst = undefined;
          clearTimeout(timer);
          timer = setTimeout(miss, within);
        }
      };
      const miss = (): void => {
        settle();
        reject(new Unmet(`${what} did not come within ${within} ms (--within gives more)`));
      };
      let timer = setTimeout(miss, within);
      this.#waiting.add(look);
      look();
    });
  }
}
