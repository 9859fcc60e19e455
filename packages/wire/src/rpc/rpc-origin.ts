import type { Params, RequestId } from "@harnesskit/protocol/envelope";
import { createDeferred, type Deferred } from "../deferred.ts";
import type { HarnessError } from "../errors.ts";
import { ProtocolError } from "../protocol-error.ts";
import type { Dispatcher } from "./dispatcher.ts";
import { InboundCall } from "./inbound-call.ts";
import { Lane } from "./lane.ts";
import { type CallMessage, messageKind, type Reply, readableId } from "./message.ts";
import type { Respond } from "./rpc-method.ts";

export interface OriginOptions {
  /** Requests that are handled at the same time; 1 handles them in order. @default Infinity */
  readonly maxConcurrentCalls?: number | undefined;
  /** Whether a notification that is refused is answered. @default false */
  readonly answersRefusals?: boolean | undefined;
  /** Called for each request and notification, and for each message that is neither. */
  readonly onMessage?: ((isValid: boolean) => void) | undefined;
}

/** One connection as a dispatcher sees it: its own ids, order and limits. */
export class RpcOrigin<Context> {
  readonly #options: OriginOptions;
  /** Calls that wait or whose handlers run, by id; one without an id of its own by itself. */
  readonly #open = new Map<unknown, InboundCall<Context>>();
  #requests: Lane | undefined;
  #notifications: Lane | undefined;
  #idle: Deferred<void> | undefined;
  #isClosed = false;

  constructor(
    readonly dispatcher: Dispatcher<Context>,
    readonly context: Context,
    options: OriginOptions,
  ) {
    this.#options = options;
  }

  /**
   * Takes one JSON value. Calls `respond` once: with the answer, or with undefined when a notification is handled. False
   * for what has no answer: a notification, or a batch of nothing else.
   */
  accept(message: unknown, respond: Respond): boolean {
    return Array.isArray(message) ? this.#acceptBatch(message, respond) : this.#acceptOne(message, respond);
  }

  /** Aborts the requests, and drops what waits in the lanes of this origin. */
  close(reason: HarnessError): void {
    this.#isClosed = true;
    for (const call of [...this.#open.values()]) {
      if (call.id !== undefined || !call.rpc?.lane) this.dispatcher.abort(call, reason);
    }
    this.#settleIdle();
  }

  /** For the dispatcher: the handler of a call has ended. */
  done(call: InboundCall<Context>): void {
    this.#open.delete(call.key);
    this.#settleIdle();
  }

  /** Settles when every handler has ended. */
  whenIdle(): Promise<void> {
    if (this.#open.size === 0) return Promise.resolve();
    this.#idle ??= createDeferred<void>();
    return this.#idle.promise;
  }

  #acceptOne(message: unknown, respond: Respond): boolean {
    const kind = messageKind(message);
    if (kind === "request" || kind === "notification") {
      const call = message as CallMessage;
      if (this.dispatcher.allowsParams(call.params)) {
        this.#options.onMessage?.(true);
        this.#accept(call, respond);
        return kind === "request";
      }
    }
    const isResponse = kind === "response" || kind === "invalid_response";
    const id = (isResponse ? null : readableId(message)) ?? this.dispatcher.unknownId;
    respond(this.#refuseInvalid(this.dispatcher.errors.notJsonRpc(), id));
    return true;
  }

  #acceptBatch(messages: readonly unknown[], respond: Respond): boolean {
    const { maxBatchSize, unknownId, errors } = this.dispatcher;
    if (messages.length === 0 || messages.length > maxBatchSize) {
      respond(this.#refuseInvalid(errors.badBatch(messages.length, maxBatchSize), unknownId));
      return true;
    }
    const replies: Reply[] = [];
    let missing = messages.length;
    const collect: Respond = (reply) => {
      if (reply) replies.push(reply as Reply);
      if (--missing === 0) respond(replies.length > 0 ? replies : undefined, "batch");
    };
    let isAnswered = false;
    for (const message of messages) {
      if (Array.isArray(message)) collect(this.#refuseInvalid(errors.notJsonRpc(), unknownId));
      isAnswered = Array.isArray(message) || this.#acceptOne(message, collect) || isAnswered;
    }
    return isAnswered;
  }

  #refuseInvalid(error: ProtocolError, id: RequestId): Reply {
    this.#options.onMessage?.(false);
    return this.dispatcher.refuse(error, { kind: "invalid", id, method: undefined, params: undefined });
  }

  #accept(message: CallMessage, respond: Respond): void {
    const { id, method } = message;
    const params: Params | undefined = message.params ?? undefined;
    const call = new InboundCall(id, method, respond, this);
    const isDuplicate = id !== undefined && id !== null && this.#open.has(id);
    let isAdmitted: boolean;
    try {
      isAdmitted = this.dispatcher.admit(call, params, isDuplicate);
    } catch (cause) {
      this.#refuse(call, params, cause);
      return;
    }
    if (isAdmitted) this.#enter(call);
    else respond(undefined);
  }

  #refuse(call: InboundCall<Context>, params: unknown, cause: unknown): void {
    const { id, method } = call;
    const error = ProtocolError.isInstance(cause) ? cause : this.dispatcher.errors.failed(cause, call);
    if (error !== cause) this.dispatcher.report(cause, call);
    const kind = id === undefined ? "notification" : "request";
    const reply = this.dispatcher.refuse(error, { kind, id, method, params });
    call.respond(id !== undefined || this.#options.answersRefusals ? reply : undefined, method);
  }

  #enter(call: InboundCall<Context>): void {
    this.#open.set(call.key, call);
    const lane = this.#laneOf(call);
    if (!lane || lane.tryEnter()) {
      call.lane = lane;
      this.dispatcher.run(call);
      return;
    }
    lane.wait(() => {
      call.lane = lane;
      const isDropped = call.isSettled || (this.#isClosed && call.isAborted);
      if (isDropped) this.dispatcher.done(call);
      else this.dispatcher.run(call);
    });
  }

  #laneOf(call: InboundCall<Context>): Lane | undefined {
    if (call.rpc?.lane) return call.rpc.lane(call.params, call);
    if (call.id === undefined) {
      this.#notifications ??= new Lane(1);
      return this.#notifications;
    }
    const { maxConcurrentCalls } = this.#options;
    if (maxConcurrentCalls === undefined) return undefined;
    this.#requests ??= new Lane(maxConcurrentCalls);
    return this.#requests;
  }

  #settleIdle(): void {
    if (this.#open.size > 0 && !this.#isClosed) return;
    this.#idle?.resolve();
    this.#idle = undefined;
  }
}
