import { type Channel, HarnessError } from "@harnesskit/wire";
import { errorReply, handlerFailure, isTooLarge } from "./refusal.ts";
import type { Reply } from "./server-parts.ts";

export interface ReplySenderOptions {
  readonly channel: Pick<Channel, "send" | "close">;
  /** Something that was unsent is sent, or never will be. */
  readonly onSent: () => void;
  /** An answer could not be sent as it was. */
  readonly onUnsendable: () => void;
  /** Must not throw. */
  readonly onError: (error: unknown) => void;
}

/** The answer in place of one that is larger or deeper than a message may be, or no JSON: -32603, `result_too_large`. */
export const unsendableReply = ({ id }: Reply): Reply =>
  errorReply(id, handlerFailure("result_too_large", "the answer is larger than a message may be"));

/** Sends answers, and knows how many the other side has not taken yet. */
export class ReplySender {
  readonly #options: ReplySenderOptions;
  /** Answers that left together share a promise; they are counted together. */
  #last: { readonly sent: Promise<void>; count: number } | undefined;
  #unsent = 0;

  constructor(options: ReplySenderOptions) {
    this.#options = options;
  }

  get unsent(): number {
    return this.#unsent;
  }

  /** Sends an answer, or an error in its place where it is too large. */
  send(reply: Reply): void {
    this.#unsent++;
    const sent = this.#options.channel.send(reply);
    if (this.#last?.sent === sent) {
      this.#last.count++;
      return;
    }
    const group = { sent, count: 1 };
    this.#last = group;
    sent
      .catch((error: unknown) => this.#failed(reply, error))
      .finally(() => {
        this.#unsent -= group.count;
        if (this.#last === group) this.#last = undefined;
        this.#options.onSent();
      });
  }

  #failed(reply: Reply, error: unknown): void {
    const { channel, onError, onUnsendable } = this.#options;
    if (isCode(error, "connection_closed")) return;
    if ((isTooLarge(error) || isCode(error, "invalid_argument")) && !("error" in reply)) {
      onUnsendable();
      this.send(unsendableReply(reply));
      return;
    }
    // An open connection that loses answers would lie.
    onError(error);
    void channel.close(HarnessError.isInstance(error) ? error : undefined);
  }
}

const isCode = (error: unknown, code: string): boolean =>
  HarnessError.isInstance(error) && error.code === code;
