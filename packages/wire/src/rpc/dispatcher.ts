import { callSafely, isThenable } from "../call-safely.ts";
import { type HarnessError, RequestCancelledError, RequestTimeoutError } from "../errors.ts";
import type { ProtocolError } from "../protocol-error.ts";
import { systemClock } from "../time/clock.ts";
import { Deadlines } from "../time/deadline.ts";
import {
  checkDispatcherOptions,
  type DispatcherOptions,
  type DispatcherStats,
  type RefusedMessage,
} from "./dispatcher-options.ts";
import type { InboundCall } from "./inbound-call.ts";
import type { Reply, RpcReply } from "./message.ts";
import { defaultRpcErrors, duplicateId, type RpcErrors, replaceUnsendable } from "./rpc-errors.ts";
import { type Call, findMethod } from "./rpc-method.ts";
import { type OriginOptions, RpcOrigin } from "./rpc-origin.ts";

/**
 * Handles JSON-RPC calls from any number of origins; knows no transport and no method. Each message is validated once;
 * deadlines, concurrency, cancellation, order and batches are handled here.
 */
export class Dispatcher<Context> {
  readonly errors: RpcErrors<Context>;
  readonly maxBatchSize: number;
  readonly #options: DispatcherOptions<Context>;
  readonly #timeoutMs: number;
  readonly #maxPending: number;
  readonly #stats: DispatcherStats = {
    requests: 0,
    notifications: 0,
    invalidMessages: 0,
    refusedRequests: 0,
    refusedNotifications: 0,
    timeouts: 0,
    cancelled: 0,
    pending: 0,
  };
  /** Calls that wait or are being handled. */
  readonly #pending = new Set<InboundCall<Context>>();
  readonly #deadlines: Deadlines<InboundCall<Context>>;

  constructor(options: DispatcherOptions<Context>) {
    const { timeoutMs, maxPending, maxBatchSize = 100 } = options.limits ?? {};
    this.#options = options;
    this.errors = { ...defaultRpcErrors, ...options.errors };
    this.#timeoutMs = timeoutMs ?? Number.POSITIVE_INFINITY;
    this.#maxPending = maxPending ?? Number.POSITIVE_INFINITY;
    this.maxBatchSize = maxBatchSize;
    this.#deadlines = new Deadlines({
      clock: options.clock ?? systemClock,
      entries: () => this.#pending,
      expired: (call) => this.abort(call, new RequestTimeoutError(call.method, this.#timeoutMs)),
    });
  }

  get unknownId(): null | "" {
    return this.#options.unknownId ?? null;
  }

  /** Whether the params may be what they are; else the message is invalid. */
  allowsParams(params: unknown): boolean {
    return params === undefined || typeof params === "object" || this.#options.anyParams === true;
  }

  /** Makes an origin: one connection, with its own ids, order and limits. */
  open(context: Context, options: OriginOptions = {}): RpcOrigin<Context> {
    return new RpcOrigin(this, context, options);
  }

  /**
   * Handles one message of an exchange. Resolves with its answer, or with undefined for a notification as soon as it is
   * accepted; where `answersRefusals` is set, a notification that is refused is answered too. The abort of the signal
   * cancels a request; it is asked for only where one is not answered at once. Never rejects.
   */
  receive(
    message: unknown,
    context: Context,
    options: { readonly signal?: () => AbortSignal | undefined; readonly answersRefusals?: boolean } = {},
  ): Promise<RpcReply | undefined> {
    return new Promise((resolve) => {
      const origin = this.open(context, { answersRefusals: options.answersRefusals ?? false });
      let stopListening: (() => void) | undefined;
      let isDone = false;
      const done = (reply: RpcReply | undefined): void => {
        isDone = true;
        stopListening?.();
        resolve(reply);
      };
      if (!origin.accept(message, done)) done(undefined);
      if (isDone) return;
      const signal = options.signal?.();
      if (!signal) return;
      const cancel = () => origin.close(new RequestCancelledError("the request", { cause: signal.reason }));
      stopListening = () => signal.removeEventListener("abort", cancel);
      signal.addEventListener("abort", cancel, { once: true });
      if (signal.aborted) queueMicrotask(cancel);
    });
  }

  /** Counts what arrived in place of a message, and returns its answer, if it has one. */
  malformed(error: HarnessError): Reply | undefined {
    const worded = this.errors.malformed(error);
    return (
      worded && this.refuse(worded, { kind: "invalid", id: undefined, method: undefined, params: undefined })
    );
  }

  /**
   * The answer in place of one that cannot be sent (`frame_too_large`, `invalid_argument`): a result becomes an error, an
   * error a shorter one. Undefined if that cannot help.
   */
  unsendable(reply: RpcReply, error: HarnessError, method?: string): RpcReply | undefined {
    return replaceUnsendable(reply, error, method, this.errors, this.report);
  }

  stats(): DispatcherStats {
    return { ...this.#stats, pending: this.#pending.size };
  }

  /** Aborts all calls; their answers are as `errors.aborted` says. Idempotent. */
  close(reason: HarnessError): void {
    for (const call of [...this.#pending]) this.abort(call, reason);
  }

  // What follows is for origins.

  /** Finds the method of a well-formed call and checks its params; undefined where none takes a notification. Throws what refuses it. */
  admit(call: InboundCall<Context>, params: unknown, isDuplicate: boolean): boolean {
    const isRequest = call.id !== undefined;
    this.#stats[isRequest ? "requests" : "notifications"]++;
    const { methods, notifications } = this.#options;
    const rpc = findMethod(isRequest ? methods : notifications, call.method);
    if (!rpc) {
      if (isRequest) throw this.errors.unknownMethod(call.method);
      return false;
    }
    if (isDuplicate) throw duplicateId();
    this.#options.guard?.(call);
    if (this.#pending.size >= this.#maxPending) throw this.errors.overloaded();
    call.params = rpc.read ? rpc.read(params, call) : params;
    call.rpc = rpc;
    this.#pending.add(call);
    return true;
  }

  /** Counts and reports a refusal, and returns the answer to it. */
  refuse(error: ProtocolError, message: RefusedMessage): Reply {
    const { kind, id } = message;
    if (kind === "invalid") this.#stats.invalidMessages++;
    else this.#stats[kind === "request" ? "refusedRequests" : "refusedNotifications"]++;
    callSafely(() => this.#options.onRefused?.(error, message));
    return { jsonrpc: "2.0", id: id === undefined ? this.unknownId : id, error: error.toErrorObject() };
  }

  /** Runs the handler of a call that has its place. */
  run(call: InboundCall<Context>): void {
    let outcome: unknown;
    try {
      outcome = call.rpc?.handle(call.params, call);
    } catch (cause) {
      this.#failed(call, cause);
      return;
    }
    if (!isThenable(outcome)) {
      this.#succeeded(call, outcome);
      return;
    }
    call.dueMs = this.#deadlines.dueAfter(this.#timeoutMs);
    outcome.then(
      (result) => this.#succeeded(call, result),
      (cause: unknown) => this.#failed(call, cause),
    );
  }

  /** Aborts a call: its signal, and its answer as `errors.aborted` says. */
  abort(call: InboundCall<Context>, reason: HarnessError): void {
    call.dueMs = Number.POSITIVE_INFINITY;
    if (call.isAborted || call.isSettled) {
      call.abort(reason);
      return;
    }
    const error = this.errors.aborted(reason, call);
    if (reason.code === "request_timeout") this.#stats.timeouts++;
    else this.#stats.cancelled++;
    if (error) {
      this.#pending.delete(call);
      call.settle({ error });
      call.leave();
    }
    call.abort(reason);
  }

  /** Reports what a caller does not see. */
  readonly report = (error: unknown, call: Pick<Call<Context>, "id" | "method">): void => {
    callSafely(() => this.#options.onError?.(error, call));
  };

  /** The handler of a call has ended, or will not be asked any more. */
  done(call: InboundCall<Context>): void {
    this.#pending.delete(call);
    call.leave();
    call.origin.done(call);
  }

  #succeeded(call: InboundCall<Context>, result: unknown): void {
    call.reply(result);
    this.done(call);
  }

  #failed(call: InboundCall<Context>, cause: unknown): void {
    const error = this.errors.failed(cause, call);
    if (error !== cause || call.isSettled || call.id === undefined) this.report(cause, call);
    call.settle({ error });
    this.done(call);
  }
}

/** Makes a dispatcher: give it messages with `receive`, or open an origin per connection. Throws `invalid_argument` for invalid options. */
export const createDispatcher = <Context = unknown>(
  options: DispatcherOptions<Context>,
): Dispatcher<Context> => new Dispatcher(checkDispatcherOptions(options));
