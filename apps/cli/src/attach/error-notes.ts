import type { HarnessError } from "@harnesskit/wire";
import { describeFailure } from "../debug.ts";
import { LineBudget } from "../terminal/line-budget.ts";

/** Errors of a server that are told; the others are counted. */
const maxTold = 5;

/** Says on stderr what a server sent that was of no use. */
export class ErrorNotes {
  readonly #command: string;
  readonly #lines: LineBudget;

  constructor(command: string) {
    this.#command = command;
    this.#lines = new LineBudget({
      maxLines: maxTold,
      write: (line) => process.stderr.write(`${line}\n`),
      more: (count) => `${command}: … and ${count} more`,
    });
  }

  readonly tell = (error: HarnessError): void => this.#lines.tell(describeFailure(this.#command, error));

  /** For who reads anew what it had to drop, so that this is no news. */
  readonly tellFollower = (error: HarnessError): void => {
    if (error.code !== "buffer_full") this.tell(error);
  };

  /** Says how many more there were. */
  end(): void {
    this.#lines.end();
  }
}
