import type { RequestId } from "@harnesskit/protocol/envelope";
import { defineOptions } from "../define-options.ts";
import type { ProtocolError } from "../protocol-error.ts";
import type { Clock } from "../time/clock.ts";
import type { RpcErrors } from "./rpc-errors.ts";
import type { Call, RpcMethods } from "./rpc-method.ts";

/** A message that was refused before its handler was asked. */
export interface RefusedMessage {
  readonly kind: "request" | "notification" | "invalid";
  readonly id: RequestId | undefined;
  readonly method: string | undefined;
  readonly params: unknown;
}

export interface DispatcherOptions<Context> {
  /** What answers requests. @default every method is -32601 */
  readonly methods?: RpcMethods<Context> | undefined;
  /** What takes notifications. @default those without a method are ignored */
  readonly notifications?: RpcMethods<Context> | undefined;
  /** Refuses a call by throwing a `ProtocolError`, before anything of its params is read. @default accepts all */
  guard?(call: Call<Context>): void;
  readonly limits?:
    | {
        /** How long a handler may take, in milliseconds; then its call is aborted. @default Infinity */
        readonly timeoutMs?: number | undefined;
        /** Calls that wait or are being handled, from all origins; further ones are refused (`overloaded`). @default Infinity */
        readonly maxPending?: number | undefined;
        /** Messages in one array (JSON-RPC 2.0, section 6); 0 accepts no arrays. @default 100 */
        readonly maxBatchSize?: number | undefined;
      }
    | undefined;
  /** @default the wording of plain JSON-RPC */
  readonly errors?: Partial<RpcErrors<Context>> | undefined;
  /** The id of the answer to a message without a readable id. @default null */
  readonly unknownId?: null | "" | undefined;
  /** Whether params that are neither object nor array are left to the method. @default false: the message is invalid */
  readonly anyParams?: boolean | undefined;
  /** Called for every message that is refused before its handler is asked, before the answer is sent. */
  readonly onRefused?: ((error: ProtocolError, message: RefusedMessage) => void) | undefined;
  /** Reports what a caller does not see: what a handler threw, or what came after its answer. What it throws is ignored. */
  readonly onError?: ((error: unknown, call: Pick<Call<Context>, "id" | "method">) => void) | undefined;
  /** @default the real time */
  readonly clock?: Clock | undefined;
}

export const checkDispatcherOptions = defineOptions<DispatcherOptions<unknown>>("createDispatcher", {
  methods: false,
  notifications: false,
  guard: false,
  limits: false,
  errors: false,
  unknownId: false,
  anyParams: false,
  onRefused: false,
  onError: false,
  clock: false,
});

/** What a dispatcher counted, and what it holds. */
export interface DispatcherStats {
  requests: number;
  notifications: number;
  /** Messages that are not JSON-RPC. */
  invalidMessages: number;
  /** Refused before a handler was asked. */
  refusedRequests: number;
  refusedNotifications: number;
  /** Calls aborted by their deadline, or because nothing waits for them any more. */
  timeouts: number;
  cancelled: number;
  /** Calls that wait or are being handled. */
  pending: number;
}
