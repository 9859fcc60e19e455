import type { Params, RequestId } from "@harnesskit/protocol/envelope";
import { JsonRpcErrorCode } from "@harnesskit/protocol/envelope";
import { createDeferred, type Deferred } from "../deferred.ts";
import { type ConnectionClosedError, RequestCancelledError } from "../errors.ts";
import { ProtocolError, toProtocolError } from "../protocol-error.ts";
import { type Call, InboundCall, type ReplySink } from "./inbound-call.ts";

export interface InboundOptions<Context> {
  readonly context: Context;
  readonly maxConcurrentCalls: number;
  readonly maxQueuedCalls: number;
  readonly handle: (method: string, params: Params | undefined, call: Call<Context>) => unknown;
  /** Told what a handler threw that is no wire error. */
  readonly onFailure: (method: string, cause: unknown) => void;
}

/**
 * The requests that are handled at the moment: at most `maxConcurrentCalls`, begun in the order of their arrival. With
 * a limit of 1 each request sees what the one before it did.
 */
export class InboundCalls<Context> {
  readonly #active = new Map<RequestId, InboundCall<Context>>();
  readonly #queue: InboundCall<Context>[] = [];
  #running = 0;
  /** Pending while the queue is full; the channel reads no further until then. */
  #room: Deferred<void> | undefined;
  #idle: Deferred<void> | undefined;
  #closed = false;

  constructor(readonly options: InboundOptions<Context>) {}

  /** Takes a request. Returns a promise when the reader should wait before it brings more. */
  accept(
    id: RequestId,
    method: string,
    params: Params | undefined,
    sink: ReplySink,
  ): Promise<void> | undefined {
    const call = new InboundCall(id, method, params, this.options.context, sink);
    if (id !== null) {
      if (this.#active.has(id)) {
        const data = { reason: "duplicate_id" };
        call.fail(
          new ProtocolError(JsonRpcErrorCode.InvalidRequest, "A request with this id is being handled", {
            data,
          }),
        );
        return undefined;
      }
      this.#active.set(id, call);
    }
    if (this.#running < this.options.maxConcurrentCalls) {
      this.#run(call);
      return undefined;
    }
    this.#queue.push(call);
    if (this.#queue.length < this.options.maxQueuedCalls) return undefined;
    this.#room ??= createDeferred<void>();
    return this.#room.promise;
  }

  /** Aborts the handler of the request that its caller gives up. Its answer, if any, still goes out. */
  cancel(id: RequestId): void {
    const call = this.#active.get(id);
    call?.cancel(new RequestCancelledError(call.method));
  }

  /** Aborts every handler and drops what waits. */
  close(reason: ConnectionClosedError): void {
    this.#closed = true;
    for (const call of this.#active.values()) call.cancel(reason);
    for (const call of this.#queue.splice(0)) this.#forget(call);
    this.#room?.resolve();
    this.#settleIdle();
  }

  /** Settles when everything that was accepted so far is answered. */
  whenIdle(): Promise<void> {
    if (this.#running === 0 && this.#queue.length === 0) return Promise.resolve();
    this.#idle ??= createDeferred<void>();
    return this.#idle.promise;
  }

  #run(call: InboundCall<Context>): void {
    this.#running++;
    let outcome: unknown;
    try {
      outcome = this.options.handle(call.method, call.params, call);
    } catch (error) {
      this.#fail(call, error);
      this.#done(call);
      return;
    }
    if (!isThenable(outcome)) {
      call.reply(outcome);
      this.#done(call);
      return;
    }
    outcome.then(
      (result) => {
        call.reply(result);
        this.#done(call);
      },
      (error: unknown) => {
        this.#fail(call, error);
        this.#done(call);
      },
    );
  }

  #fail(call: InboundCall<Context>, error: unknown): void {
    const wireError = toProtocolError(error);
    if (wireError !== error || call.answered) this.options.onFailure(call.method, error);
    call.fail(wireError);
  }

  #done(call: InboundCall<Context>): void {
    this.#running--;
    this.#forget(call);
    while (this.#running < this.options.maxConcurrentCalls) {
      const next = this.#queue.shift();
      if (!next) break;
      this.#run(next);
    }
    if (this.#room && this.#queue.length * 2 <= this.options.maxQueuedCalls) {
      const room = this.#room;
      this.#room = undefined;
      room.resolve();
    }
    this.#settleIdle();
  }

  #settleIdle(): void {
    if (!this.#closed && (this.#running > 0 || this.#queue.length > 0)) return;
    this.#idle?.resolve();
    this.#idle = undefined;
  }

  #forget(call: InboundCall<Context>): void {
    if (call.id !== null) this.#active.delete(call.id);
  }
}

const isThenable = (value: unknown): value is PromiseLike<unknown> =>
  typeof value === "object" && value !== null && typeof (value as { then?: unknown }).then === "function";
