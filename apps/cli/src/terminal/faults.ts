import { HarnessError } from "@harnesskit/wire";
import { describeFailure } from "../cli-error.ts";
import { io } from "../io.ts";
import { createTerminal } from "./terminal.ts";

/** What peers can cause as often as they like. */
const peerCodes: ReadonlySet<string> = new Set([
  "invalid_message",
  "frame_too_large",
  "buffer_full",
  "connection_closed",
  "transport_failed",
]);

export interface FaultsOptions {
  /** How many faults of peers are shown; then they are counted. */
  readonly maxLines: number;
  /** After this time as many are shown again, and what is not of a peer is always shown. @default never, and each fault counts */
  readonly everyMs?: number | undefined;
}

/** Says on standard error what peers do wrong, in few lines however much that is. */
export class Faults {
  readonly #where: string;
  readonly #options: FaultsOptions;
  #count = 0;
  #timer: NodeJS.Timeout | undefined;

  /** @param where what each line begins with */
  constructor(where: string, options: FaultsOptions) {
    this.#where = where;
    this.#options = options;
  }

  readonly tell = (error: unknown): void => {
    const { maxLines, everyMs } = this.#options;
    const isCounted = everyMs === undefined || (HarnessError.isInstance(error) && peerCodes.has(error.code));
    if (isCounted && ++this.#count > maxLines) return;
    if (isCounted && everyMs !== undefined) this.#timer ??= setTimeout(() => this.end(), everyMs).unref();
    this.#write(describeFailure(this.#where, error));
  };

  /** Says how many were not shown. */
  end(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const more = this.#count - this.#options.maxLines;
    this.#count = 0;
    if (more > 0) this.#write(`${this.#where}: … and ${more.toLocaleString("en-US")} more`);
  }

  #write(text: string): void {
    createTerminal(io().stderr).say(text.split("\n"));
  }
}
