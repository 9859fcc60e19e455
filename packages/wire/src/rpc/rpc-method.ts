import type { RequestId } from "@harnesskit/protocol/envelope";
import type { ProtocolError } from "../protocol-error.ts";
import type { Lane } from "./lane.ts";
import type { RpcReply } from "./message.ts";

/** What a handler gets besides the params. */
export interface Call<Context = unknown> {
  /** Undefined for a notification. */
  readonly id: RequestId | undefined;
  readonly method: string;
  /** Aborts when the caller cancels, the connection closes or the deadline passes. */
  readonly signal: AbortSignal;
  /** What the transport knows about the caller. */
  readonly context: Context;
  /**
   * Answers now; what the handler returns afterwards is ignored. Anything sent after this call arrives after the answer.
   * A second answer is ignored. Never throws.
   */
  reply(result: unknown): void;
}

/** What became of a call: its result, or the error that answers it. */
export type CallOutcome = { readonly result: unknown } | { readonly error: ProtocolError };

/** One method: how its params are checked and how it is handled. */
export interface RpcMethod<Params = unknown, Context = unknown> {
  /**
   * Checks the params and returns what `handle` gets; a `ProtocolError` that it throws refuses the call. Runs once, in the
   * order of arrival. @default the params as they came
   */
  read?(params: unknown, call: Call<Context>): Params;
  /** The lane in which calls wait for each other. @default one per connection: the requests', or the notifications' */
  lane?(params: Params, call: Call<Context>): Lane;
  /**
   * Returns the result or a promise of it (undefined becomes null), or throws: a {@link ProtocolError} is sent as it is,
   * anything else as -32603 without detail.
   */
  handle(params: Params, call: Call<Context>): unknown;
  /** Called once with the outcome, before the answer is sent. Not called where `read` refused. */
  settled?(outcome: CallOutcome, params: Params, call: Call<Context>): void;
}

/** Methods by name, or a function that finds one. */
export type RpcMethods<Context> =
  | Readonly<Record<string, RpcMethod<unknown, Context>>>
  | ((method: string) => RpcMethod<unknown, Context> | undefined);

/** The method of this name, if there is one. */
export const findMethod = <Context>(
  methods: RpcMethods<Context> | undefined,
  name: string,
): RpcMethod<unknown, Context> | undefined => {
  if (typeof methods === "function") return methods(name);
  return methods && Object.hasOwn(methods, name) ? methods[name] : undefined;
};

/** Takes the answer to one message: called once, with undefined without one. */
export type Respond = (reply: RpcReply | undefined, method?: string) => void;
