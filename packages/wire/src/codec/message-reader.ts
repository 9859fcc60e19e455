import { type HarnessError, InvalidMessageError } from "../errors.ts";
import { FaultRun } from "./fault-run.ts";
import { type MessageLimits, parseMessage } from "./json-text.ts";

/** Reads the messages of one stream: what each decoder does with bytes, or with a string, that should be a message. */
export class MessageReader {
  readonly #utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  readonly #faults = new FaultRun();
  readonly #maxDepth: number;
  /** No further message can be read. */
  isBroken = false;

  constructor({ maxDepth }: MessageLimits) {
    this.#maxDepth = maxDepth;
  }

  /** The bytes as a string; undefined where they are not UTF-8. */
  decode(bytes: Uint8Array): string | undefined {
    try {
      return this.#utf8.decode(bytes);
    } catch {
      return undefined;
    }
  }

  /** Adds the message, or the error in its place. `text` is what `decode` returned. */
  read(text: string | undefined, out: unknown[]): void {
    const message =
      text === undefined
        ? new InvalidMessageError("not_utf8", "a message is not UTF-8")
        : parseMessage(text, this.#maxDepth);
    if (message instanceof InvalidMessageError) {
      this.fault(message, out);
      return;
    }
    this.#faults.end();
    out.push(message);
  }

  /** Adds an error in place of a message; breaks after too many in a row. */
  fault(error: HarnessError, out: unknown[]): void {
    out.push(error);
    const flood = this.#faults.add();
    if (!flood) return;
    this.isBroken = true;
    out.push(flood);
  }
}
