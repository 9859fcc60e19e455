import { HarnessError } from "@harnesskit/wire";
import { describeFailure } from "../cli-error.ts";
import { LineBudget } from "../terminal/line-budget.ts";

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
      more: (count) => `${where}: … and ${count} more of clients`,
    });
  }

  readonly tell = (error: unknown): void => {
    const line = describeFailure(this.#where, error);
    if (!HarnessError.isInstance(error) || !clientCodes.has(error.code)) this.#write(line);
    else {
      this.#timer ??= setTimeout(() => this.end(), minuteMs).unref();
      this.#minute.tell(line);
    }
  };

  end(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#minute.end();
  }
}
