import type { RequestId } from "@harnesskit/protocol/envelope";
import { LazyAbort } from "../lazy-abort.ts";
import type { Lane } from "./lane.ts";
import type { Call, CallOutcome, Respond, RpcMethod } from "./rpc-method.ts";
import type { RpcOrigin } from "./rpc-origin.ts";

/** One request or notification that is being handled. Settles exactly once. */
export class InboundCall<Context> extends LazyAbort implements Call<Context> {
  rpc: RpcMethod<unknown, Context> | undefined;
  params: unknown;
  /** When it is given up, once its handler runs. */
  dueMs = Number.POSITIVE_INFINITY;
  /** The lane in which it has a place. */
  lane: Lane | undefined;
  #isSettled = false;

  constructor(
    readonly id: RequestId | undefined,
    readonly method: string,
    readonly respond: Respond,
    readonly origin: RpcOrigin<Context>,
  ) {
    super();
  }

  get context(): Context {
    return this.origin.context;
  }

  /** Under which its origin holds it: the id, or itself where it has none of its own. */
  get key(): unknown {
    return this.id ?? this;
  }

  get isSettled(): boolean {
    return this.#isSettled;
  }

  reply(result: unknown): void {
    this.settle({ result: toResult(result) });
  }

  settle(outcome: CallOutcome): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    try {
      this.rpc?.settled?.(outcome, this.params, this);
    } catch (cause) {
      this.origin.dispatcher.report(cause, this);
    }
    const { id } = this;
    if (id === undefined) this.respond(undefined);
    else if ("error" in outcome)
      this.respond({ jsonrpc: "2.0", id, error: outcome.error.toErrorObject() }, this.method);
    else this.respond({ jsonrpc: "2.0", id, result: outcome.result }, this.method);
  }

  /** Gives back its place in its lane. */
  leave(): void {
    const { lane } = this;
    this.lane = undefined;
    lane?.leave();
  }
}

/** Undefined becomes null. What JSON would silently leave out becomes what it refuses, so that it is reported. */
const toResult = (result: unknown): unknown => {
  if (result === undefined) return null;
  return typeof result === "function" || typeof result === "symbol" ? 0n : result;
};
