import type { Params, RequestId } from "@harnesskit/protocol/envelope";
import { JsonRpcErrorCode } from "@harnesskit/protocol/envelope";
import { createDeferred, type Deferred } from "../deferred.ts";
import { type ConnectionClosedError, RequestCancelledError } from "../errors.ts";
import { ProtocolError, toProtocolError } from "../protocol-error.ts";
import { isThenable } from "../thenable.ts";
import { type Call, InboundCall, type ReplySink } from "./inbound-call.ts";

export interface InboundOptions<Context> {
  readonly context: Context;
  readonly maxConcurrentCalls: number;
  readonly maxQueuedCalls: number;
  readonly handle: (method: string, params: Params | undefined, call: Call<Context>) => unknown;
  /** Told what a handler threw that is no wire error, or that came after its answer. Must not throw. */
  readonly onFailure: (cause: unknown) => void;
}

/**
 * The requests that are handled at the moment: at most `maxConcurrentCalls`, begun in the order of their arrival. With
 * a limit of 1 each request sees what the one before it did.
 */
export class InboundCalls<Context> {
  /** By id; a call whose id is null, which any number of calls may have, by itself. */
  readonly #active = new Map<unknown, InboundCall<Context>>();
  readonly #queue: InboundCall<Context>[] = [];
  #running = 0;
  #startingQueued = false;
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
    if (this.#active.has(keyOf(call))) {
      const data = { reason: "duplicate_id" };
      const text = "A request with this id is being handled";
      call.fail(new ProtocolError(JsonRpcErrorCode.InvalidRequest, text, { data }));
      return undefined;
    }
    this.#active.set(keyOf(call), call);
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
    if (wireError !== error || call.answered) this.options.onFailure(error);
    call.fail(wireError);
  }

  #done(call: InboundCall<Context>): void {
    this.#running--;
    this.#forget(call);
    this.#startQueued();
    if (this.#room && this.#queue.length * 2 <= this.options.maxQueuedCalls) {
      const room = this.#room;
      this.#room = undefined;
      room.resolve();
    }
    this.#settleIdle();
  }

  /** A handler that answers at once comes back here from within the loop, which then just goes on. */
  #startQueued(): void {
    if (this.#startingQueued) return;
    this.#startingQueued = true;
    while (this.#running < this.options.maxConcurrentCalls) {
      const next = this.#queue.shift();
      if (!next) break;
      this.#run(next);
    }
    this.#startingQueued = false;
  }

  #settleIdle(): void {
    if (!this.#closed && (this.#running > 0 || this.#queue.length > 0)) return;
    this.#idle?.resolve();
    this.#idle = undefined;
  }

  #forget(call: InboundCall<Context>): void {
    this.#active.delete(keyOf(call));
  }
}

const keyOf = (call: { readonly id: RequestId }): unknown => call.id ?? call;
