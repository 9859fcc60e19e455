import type { Clock, MessageStream } from "@harnesskit/wire";
import type { AnswerStream } from "./request-view.ts";

export interface EventTextOptions {
  /** A message as one line. Throws for what cannot be sent. */
  readonly encode: (message: unknown) => string;
  /** After so much silence a comment is sent, so that both sides notice a connection that is gone. */
  readonly pingMs: number;
  readonly clock: Clock;
  /** Called once, however it ends. */
  readonly onEnd: () => void;
}

/** The headers of an answer that is an event stream, beside those that every answer has. */
export const eventHeaders: Readonly<Record<string, string>> = {
  "content-type": "text/event-stream",
  // A proxy that collects an answer before it passes it on would hold all of it back.
  "x-accel-buffering": "no",
};

/** Whether a client takes an event stream, by its `Accept`. */
export const acceptsEvents = (accept: string | undefined): boolean =>
  (accept ?? "").split(",").some((range) => {
    const [type = "", ...parameters] = range.split(";").map((part) => part.trim().toLowerCase());
    return type === "text/event-stream" && !parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter));
  });

/** A client that has taken nothing for so many times the silence takes nothing any more. */
const stalledPings = 3;

const ping = ":\n\n";
const over = { done: true, value: undefined } as const;

/** The text of server-sent events (WHATWG HTML, 9.2), one for each message. Read as fast as it is written, and no faster. */
export class EventText implements AnswerStream {
  readonly stallMs: number;
  readonly #messages: AsyncIterator<unknown>;
  readonly #options: EventTextOptions;
  #next: Promise<IteratorResult<unknown>> | undefined;
  #isOver = false;

  constructor(messages: MessageStream, options: EventTextOptions) {
    this.#messages = messages[Symbol.asyncIterator]();
    this.#options = options;
    this.stallMs = stalledPings * options.pingMs;
  }

  async next(): Promise<IteratorResult<string>> {
    if (this.#isOver) return over;
    this.#next ??= this.#messages.next();
    try {
      const result = await this.#orSilence(this.#next);
      if (result === undefined) return { done: false, value: ping };
      this.#next = undefined;
      if (result.done) {
        this.#end();
        return over;
      }
      return { done: false, value: `data: ${this.#options.encode(result.value)}\n\n` };
    } catch (error) {
      await this.return();
      throw error;
    }
  }

  async return(): Promise<IteratorResult<string>> {
    if (!this.#isOver) {
      this.#end();
      await this.#messages.return?.();
    }
    return over;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** A stream that was left may also end by itself. */
  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#options.onEnd();
  }

  #orSilence<T>(work: Promise<T>): Promise<T | undefined> {
    const { clock, pingMs } = this.#options;
    return new Promise((resolve, reject) => {
      const cancelTimer = clock.after(pingMs, () => resolve(undefined));
      work.then(resolve, reject).finally(cancelTimer);
    });
  }
}
