import type { ErrorObject, RequestId } from "@harnesskit/protocol/envelope";
import type { ProtocolError } from "../protocol-error.ts";
import type { ReplySink } from "./inbound-call.ts";

/** One answer of a batch. */
export interface BatchResponse {
  readonly jsonrpc: "2.0";
  readonly id: RequestId;
  readonly result?: unknown;
  readonly error?: ErrorObject;
}

/** The answers to one batch: they leave together, when the last one is there (JSON-RPC 2.0, section 6). */
export class ReplyBatch implements ReplySink {
  readonly #responses: BatchResponse[] = [];
  #expected = 0;
  #complete = false;

  constructor(readonly send: (responses: BatchResponse[]) => void) {}

  /** One more answer is owed. */
  expect(): void {
    this.#expected++;
  }

  /** The whole batch was looked at. A batch that asked nothing is answered with nothing. */
  seal(): void {
    this.#complete = true;
    this.#settle();
  }

  result(call: { id: RequestId }, result: unknown): void {
    this.#add({ jsonrpc: "2.0", id: call.id, result });
  }

  error(id: RequestId, error: ProtocolError): void {
    this.#add({ jsonrpc: "2.0", id, error: error.toErrorObject() });
  }

  #add(response: BatchResponse): void {
    this.#responses.push(response);
    this.#settle();
  }

  #settle(): void {
    if (this.#complete && this.#expected > 0 && this.#responses.length === this.#expected)
      this.send(this.#responses);
  }
}
