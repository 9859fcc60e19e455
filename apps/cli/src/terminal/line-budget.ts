import type { HarnessError } from "@harnesskit/wire";
import { describeFailure } from "../cli-error.ts";
import { io } from "../io.ts";
import { createTerminal } from "./terminal.ts";

export interface LineBudgetOptions {
  readonly maxLines: number;
  readonly write: (line: string) => void;
  readonly more: (count: string) => string;
}

/** Writes the first of many lines, and at the end how many more there were, so that they do not fill the terminal. */
export class LineBudget {
  readonly #options: LineBudgetOptions;
  #left: number;
  #more = 0;

  constructor(options: LineBudgetOptions) {
    this.#options = options;
    this.#left = options.maxLines;
  }

  tell(line: string): void {
    if (this.#left === 0) this.#more++;
    else {
      this.#left--;
      this.#options.write(line);
    }
  }

  end(): void {
    const { maxLines, write, more } = this.#options;
    const count = this.#more;
    this.#more = 0;
    this.#left = maxLines;
    if (count > 0) write(more(count.toLocaleString("en-US")));
  }
}

const maxTold = 5;

/** Says on stderr what a server sent that was of no use. */
export class ErrorNotes {
  readonly #command: string;
  readonly #lines: LineBudget;

  constructor(command: string) {
    this.#command = command;
    this.#lines = new LineBudget({
      maxLines: maxTold,
      write: (line) => createTerminal(io().stderr).write(`${line}\n`),
      more: (count) => `${command}: … and ${count} more`,
    });
  }

  readonly tell = (error: HarnessError): void => this.#lines.tell(describeFailure(this.#command, error));

  /** For a follower, which reads again what it had to drop: a full buffer is not reported. */
  readonly tellFollower = (error: HarnessError): void => {
    if (error.code !== "buffer_full") this.tell(error);
  };

  end(): void {
    this.#lines.end();
  }
}
