import type { JsonObject, JsonValue } from "@harnesskit/protocol/envelope";
import type { Fields, StateOf, UpdateOf } from "../state/schema.ts";

/** Which invocation something runs in. */
export interface InvocationInfo {
  readonly invocationId: string;
  readonly correlationId: string;
  /** Null for an invocation of no session. */
  readonly sessionId: string | null;
  /** As given by the caller. */
  readonly metadata: Readonly<Record<string, unknown>>;
}

export interface SuspendOptions {
  /**
   * True: the node counts as done, and the resumed run continues behind it. False: the resumed run calls it again.
   * @default true
   */
  readonly markNodeCompleted?: boolean | undefined;
}

/** What the resumed run waits for; `metadata` is kept and given back. */
export interface SuspendDescriptor {
  /** Not empty. */
  readonly signal_id: string;
  readonly metadata?: JsonObject;
}

/** What middleware knows of the node that it is around. */
export interface MiddlewareContext extends InvocationInfo {
  readonly nodeName: string;
  /** The names on the way to the node, outermost first, itself last. */
  readonly namespace: readonly string[];
  /** The index of the item, in an instance of a fan-out. */
  readonly fanOutIndex: number | undefined;
  /** The name of the branch, in one of parallel branches. */
  readonly branchName: string | undefined;
  /** Aborts when the result of the node is not needed any more. */
  readonly signal: AbortSignal;
}

/** What a node is given beside the state. */
export interface NodeContext<F extends Fields = Fields> extends MiddlewareContext {
  /** 0 for the first run of the node's body, one more for each that middleware asks for. */
  readonly attemptIndex: number;
  /** True where the body runs again because it suspended with `markNodeCompleted: false`. */
  readonly isResumed: boolean;
  /** True where an earlier process began the run and died. */
  readonly isRecovered: boolean;
  /**
   * Pauses the invocation here. Does not return: what the body does after it is not waited for, and what it returns is
   * dropped, also when it catches what this throws. Throws `suspension_in_unsupported_context` in a fan-out or branches
   * that collect errors, and after the body has ended; that ends the run, also when it is caught. Throws
   * `invalid_argument` for a descriptor without a signal id.
   */
  suspend(descriptor: SuspendDescriptor, options?: SuspendOptions): never;
  /**
   * Saves the session now, with the update merged into the state of this node. Returns false, and does nothing, without a
   * session or a store. Rejects with `session_save_failed`, or with `session_write_conflict`, `reducer_error` and
   * `state_validation_error`; in a subgraph, which has no session, with `session_save_failed`.
   */
  saveSession(update?: UpdateOf<F>): Promise<boolean>;
  /** The same for this run of the node in every process that goes on with the run: a key for APIs that do a request once. */
  readonly idempotencyKey: string;
  /**
   * Does something that must not happen twice, under a name that is unique in the node, and returns its result as JSON. With
   * `durability: "node"` the result is recorded: when the body runs again, in this process or in another, the effect is not
   * repeated. Rejects as `call` does, which may be called again then, and with `node_ambiguous` if an earlier process has begun
   * it and its end is not recorded. Otherwise it only calls. Use it in a node that is `idempotent`.
   */
  effect<T extends JsonValue>(name: string, call: () => MaybePromise<T>, options?: EffectOptions): Promise<T>;
}

/** How an effect runs. */
export interface EffectOptions {
  /** True: it may happen again where its end is not recorded. @default false */
  readonly idempotent?: boolean | undefined;
}

/** The result of a function without `return`. */
export type Nothing = ReturnType<() => void>;

/** Something now or later. */
export type MaybePromise<T> = T | PromiseLike<T>;

/** The result of a node: an update of some fields, or nothing. */
export type NodeResult<F extends Fields> = UpdateOf<F> | undefined | Nothing;

/** The body of a node. The state is frozen. */
export type NodeBody<F extends Fields> = (
  state: StateOf<F>,
  context: NodeContext<F>,
) => MaybePromise<NodeResult<F>>;

/** How middleware calls what it is around. */
export interface NextOptions {
  /**
   * Ends this call: `next` rejects at once with `node_cancelled`, or with the reason where that is a `GraphError`; the signals of
   * the node and of all inside of it are aborted, and what code does that goes on all the same is dropped. @default never
   */
  readonly signal?: AbortSignal | undefined;
}

/**
 * What is put around a node. It may call `next` any number of times, with another state or the one it got, catch what
 * it throws, and change its result. A suspension comes out of `next` as an error that {@link isSuspension} knows; catching
 * it changes nothing.
 */
export type Middleware<F extends Fields = Fields> = (
  state: StateOf<F>,
  next: (state?: StateOf<F>, options?: NextOptions) => Promise<UpdateOf<F>>,
  context: MiddlewareContext,
) => MaybePromise<NodeResult<F>>;
