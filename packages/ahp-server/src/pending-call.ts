import type { HandshakeParams } from "@harnesskit/protocol/ahp";
import type { RequestId } from "@harnesskit/protocol/envelope";
import type { HandlerCall } from "./handlers.ts";
import type { Origin } from "./origin.ts";
import type { Refusal } from "./refusal.ts";

/** One message that is being handled, and what its handler gets. */
export class PendingCall<Context> implements HandlerCall<Context> {
  readonly origin: Origin<Context>;
  readonly handshake: HandshakeParams;
  readonly requestId: RequestId | undefined;
  readonly batchIndex = undefined;
  readonly startedAt: number;
  /** When its time is over; set while it waits for a handler. */
  dueAt = 0;
  /** Ends it without its handler; set while it waits for one. */
  giveUp: ((why: Refusal) => void) | undefined;
  #controller: AbortController | undefined;
  #aborted: { readonly reason: unknown } | undefined;

  constructor(
    origin: Origin<Context>,
    handshake: HandshakeParams,
    requestId: RequestId | undefined,
    startedAt: number,
  ) {
    this.origin = origin;
    this.handshake = handshake;
    this.requestId = requestId;
    this.startedAt = startedAt;
  }

  get context(): Context {
    return this.origin.context;
  }

  /** Made when a handler asks for it. */
  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.#aborted) this.#controller.abort(this.#aborted.reason);
    }
    return this.#controller.signal;
  }

  /** Whether nobody waits for it any more. */
  get isAborted(): boolean {
    return this.#aborted !== undefined;
  }

  abort(reason: unknown): void {
    if (this.#aborted) return;
    this.#aborted = { reason };
    this.#controller?.abort(reason);
  }
}

/** One event of a batch: it shares the time and the signal of the batch. */
export class BatchedCall<Context> implements HandlerCall<Context> {
  readonly handshake: HandshakeParams;
  readonly batchIndex: number;
  readonly #batch: PendingCall<Context>;

  constructor(batch: PendingCall<Context>, handshake: HandshakeParams, batchIndex: number) {
    this.#batch = batch;
    this.handshake = handshake;
    this.batchIndex = batchIndex;
  }

  get context(): Context {
    return this.#batch.context;
  }

  get signal(): AbortSignal {
    return this.#batch.signal;
  }

  get requestId(): RequestId | undefined {
    return this.#batch.requestId;
  }
}
