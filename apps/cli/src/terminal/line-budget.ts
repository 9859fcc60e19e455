export interface LineBudgetOptions {
  /** Lines that are written before the rest is only counted. */
  readonly maxLines: number;
  /** Writes a line, which stands for so many. */
  readonly write: (line: string, count: number) => void;
  /** The line that says how many more there were. */
  readonly more: (count: string) => string;
}

/** Writes the first of many lines, and at the end how many more there were: who causes them does not fill a terminal. */
export class LineBudget {
  readonly #options: LineBudgetOptions;
  #left: number;
  #more = 0;

  constructor(options: LineBudgetOptions) {
    this.#options = options;
    this.#left = options.maxLines;
  }

  /** @param count how many lines this one stands for. @default 1 */
  tell(line: string, count = 1): void {
    if (this.#left === 0) {
      this.#more += count;
      return;
    }
    this.#left--;
    this.#options.write(line, count);
  }

  /** Says how many more there were, if there were any, and begins anew. */
  end(): void {
    const { maxLines, write, more } = this.#options;
    const count = this.#more;
    this.#more = 0;
    this.#left = maxLines;
    if (count > 0) write(more(count.toLocaleString("en-US")), count);
  }
}
