import { JsonRpcErrorCode, type RequestId } from "@harnesskit/protocol/envelope";
import type { Channel } from "../channel.ts";
import { stringifyMessage } from "../codec/json-text.ts";
import type { FrameTooLargeError, HarnessError } from "../errors.ts";
import { ProtocolError, toProtocolError } from "../protocol-error.ts";
import type { ReplySink } from "./inbound-call.ts";
import type { BatchResponse } from "./reply-batch.ts";

export interface AnswerSenderOptions {
  readonly channel: Pick<Channel, "send" | "close">;
  /** Words the error for a result that does not fit in a message. May throw. */
  readonly resultTooLarge: (method: string, error: FrameTooLargeError) => ProtocolError | undefined;
  /** Told what has no caller to be told. Must not throw. */
  readonly report: (error: HarnessError) => void;
  /** Told what `resultTooLarge` threw. Must not throw. */
  readonly onFailure: (cause: unknown) => void;
}

/**
 * Sends answers. One that cannot be sent as it is, because it is too large or not JSON, is replaced by an error, so
 * that its caller is answered in any case.
 */
export class AnswerSender implements ReplySink {
  constructor(readonly options: AnswerSenderOptions) {}

  result({ id, method }: { id: RequestId; method: string }, result: unknown): void {
    this.options.channel.send({ jsonrpc: "2.0", id, result }).catch((error: HarnessError) => {
      if (isTooLarge(error)) this.error(id, this.#tooLarge(method, error));
      else this.#replace(id, error);
    });
  }

  error(id: RequestId, error: ProtocolError): void {
    this.options.channel
      .send({ jsonrpc: "2.0", id, error: error.toErrorObject() })
      .catch((cause: HarnessError) => this.#replace(id, cause));
  }

  batch(responses: BatchResponse[]): void {
    this.options.channel.send(responses).catch((error: HarnessError) => {
      if (!isUnsendable(error)) return this.#giveUp(error);
      const tooLarge = isTooLarge(error);
      if (!tooLarge) this.options.report(error);
      const instead = (tooLarge ? this.#tooLarge("batch", error) : toProtocolError(error)).toErrorObject();
      const answers = responses.map((response) =>
        (tooLarge && !response.error) || !hasJson(response)
          ? { jsonrpc: response.jsonrpc, id: response.id, error: instead }
          : response,
      );
      this.options.channel.send(answers).catch((cause: HarnessError) => this.#giveUp(cause));
    });
  }

  #tooLarge(method: string, error: FrameTooLargeError): ProtocolError {
    try {
      const own = this.options.resultTooLarge(method, error);
      if (own) return own;
    } catch (cause) {
      this.options.onFailure(cause);
    }
    const data = { reason: "result_too_large", maxFrameBytes: error.maxFrameBytes };
    return new ProtocolError(JsonRpcErrorCode.InternalError, "The result exceeds the message limit", {
      data,
    });
  }

  /** Where the answer itself was to blame, a plain one goes out in its place. */
  #replace(id: RequestId, error: HarnessError): void {
    if (!isUnsendable(error)) {
      this.#giveUp(error);
      return;
    }
    this.options.report(error);
    this.options.channel
      .send({ jsonrpc: "2.0", id, error: toProtocolError(error).toErrorObject() })
      .catch((cause: HarnessError) => this.#giveUp(cause));
  }

  /** An open connection that loses answers would lie: it is closed, unless it is already. */
  #giveUp(error: HarnessError): void {
    if (error.code === "connection_closed") return;
    this.options.report(error);
    void this.options.channel.close(error);
  }
}

// By code, because the channel may come from another copy of this package.
const isTooLarge = (error: HarnessError): error is FrameTooLargeError => error.code === "frame_too_large";
const isUnsendable = (error: HarnessError) => isTooLarge(error) || error.code === "invalid_argument";

const hasJson = (message: unknown): boolean => {
  try {
    stringifyMessage(message);
    return true;
  } catch {
    return false;
  }
};
