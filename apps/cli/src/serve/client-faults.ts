import { type Channel, HarnessError } from "@harnesskit/wire";
import { describeFailure } from "../cli-error.ts";
import { LineBudget } from "../terminal/line-budget.ts";

const maxPerClient = 5;
const maxPerMinute = 30;
const minuteMs = 60_000;

const clientCodes = new Set([
  "invalid_message",
  "frame_too_large",
  "buffer_full",
  "connection_closed",
  "transport_failed",
]);

/** Says on stderr what clients do wrong, in few lines however much that is, and all else that fails in the server. */
export class ClientFaults {
  readonly #where: string;
  readonly #write: (line: string) => void;
  readonly #minute: LineBudget;
  #timer: NodeJS.Timeout | undefined;
  #current: LineBudget | undefined;

  /**
   * @param where what each line begins with
   * @param write takes a line without its end
   */
  constructor(where: string, write: (line: string) => void) {
    this.#where = where;
    this.#write = write;
    this.#minute = new LineBudget({
      maxLines: maxPerMinute,
      write,
      more: (count) => `${where}: … and ${count} more of all clients`,
    });
  }

  watch<Context>(channel: Channel<Context>): Channel<Context> {
    const faults = new LineBudget({
      maxLines: maxPerClient,
      write: (line, count) => this.#tellInMinute(line, count),
      more: (count) => `${this.#where}: … and ${count} more of this client`,
    });
    void channel.closed.then(() => faults.end());
    const inside = <T>(handle: () => T): T => {
      this.#current = faults;
      try {
        return handle();
      } finally {
        this.#current = undefined;
      }
    };
    return {
      start: (handlers) =>
        channel.start({
          message: (message) => inside(() => handlers.message(message)),
          error: (error) => inside(() => handlers.error(error)),
          end: handlers.end ? () => handlers.end?.() : undefined,
          close: (reason) => handlers.close(reason),
        }),
      send: (message) => channel.send(message),
      close: (error) => channel.close(error),
      closed: channel.closed,
      signal: channel.signal,
      context: channel.context,
    };
  }

  readonly tell = (error: unknown): void => {
    const text = describeFailure(this.#where, error);
    if (this.#current) this.#current.tell(text);
    else if (HarnessError.isInstance(error) && clientCodes.has(error.code)) this.#tellInMinute(text, 1);
    else this.#write(text);
  };

  end(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#minute.end();
  }

  #tellInMinute(line: string, count: number): void {
    this.#timer ??= setTimeout(() => this.end(), minuteMs).unref();
    this.#minute.tell(line, count);
  }
}
