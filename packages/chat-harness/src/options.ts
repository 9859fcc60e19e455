import type {
  CompiledGraph,
  CompileOptions,
  Fields,
  GraphStore,
  InitialOf,
  SessionOptions,
  StateOf,
} from "@harnesskit/graph";
import type { DispatchPath } from "@harnesskit/protocol/chat";
import {
  type Clock,
  type CreateId,
  checkNumber,
  defineLimits,
  InvalidArgumentError,
  type LimitsOf,
} from "@harnesskit/wire";
import type { OnError, ReplyTexts } from "./errors.ts";
import type { ChatCallOptions } from "./lanes.ts";
import type { ChatFields } from "./messages-field.ts";

/** What a model is given in the place of what was said; the session keeps that. */
export interface ChatCompaction {
  readonly text: string;
  /** How many messages of the user and the assistant, and calls of tools, it stands for. */
  readonly messages: number;
  readonly calls: number;
}

/** A declared graph, as `defineGraph` returns it. */
export interface GraphSource<F extends Fields> {
  compile(options?: CompileOptions<F>): CompiledGraph<F>;
  /** How a run makes a summary of a session in the place of a turn. @default the graph makes none */
  readonly compaction?:
    | {
        readonly initial: InitialOf<F>;
        /** What the run has made; null if there was nothing to make it of. */
        madeIn(end: StateOf<F>): ChatCompaction | null;
      }
    | undefined;
}

/** How a turn ended, for logs and spans. */
export interface TurnReport {
  /** Undefined if the turn failed before its session was known. */
  readonly path: DispatchPath | undefined;
  readonly session_id: string | null;
  readonly invocation_id: string;
  readonly outcome: "completed" | "errored" | "suspended" | "cancelled";
  /** The category of the error, if it has one. */
  readonly error_category: string | undefined;
  /** The error of a turn that failed. It may hold what users must not see. */
  readonly error: unknown;
}

export const chatHarnessLimits = defineLimits({
  /** Turns of one session that may wait; another is refused with `session_busy`. */
  maxQueuedTurns: { default: 100, min: 0 },
  /** Turns that may run and wait in all; another is refused with `harness_busy`. */
  maxTurns: 10_000,
  /** Bytes of the payload of a signal, as JSON. */
  maxPayloadBytes: 1_000_000,
  /** Answered signals that are remembered, so that a late repetition is recognised. */
  maxRememberedSignals: 10_000,
  /** Bytes of a message as JSON, including the data of images. */
  maxMessageBytes: 20_000_000,
  /** Characters of a session id. */
  maxSessionIdLength: 1024,
  /** Listeners of all sessions. */
  maxListeners: 10_000,
});
export type ChatHarnessLimits = LimitsOf<typeof chatHarnessLimits>;

/** See `interruptedTurns` of the options. */
export type InterruptedTurnsPolicy = "forget" | "report" | "retry";

/** How a conversation runs. */
export interface ChatHarnessOptions<F extends ChatFields> {
  /** The graph as `defineGraph` returns it, not compiled: the harness compiles it over its store. */
  readonly graph: GraphSource<F>;
  /** The replies to users for errors. @default those of the specification */
  readonly replies?: ReplyTexts | undefined;
  /** Adds `final_state` to completed turns; its `messages` are the whole history. @default false */
  readonly includeFinalState?: boolean | undefined;
  /** Limits to override. @default each as {@link ChatHarnessLimits} states */
  readonly limits?: Partial<ChatHarnessLimits> | undefined;
  /** Where sessions and suspensions are kept. The harness does not close it. @default in the memory of this process */
  readonly store?: GraphStore | undefined;
  /**
   * How sessions are kept. Every turn saves its session.
   * @default the whole state without a version, under a lease that keeps other processes out
   */
  readonly session?: Omit<SessionOptions<F>, "autoSave"> | undefined;
  /** Other options of the graph. @default {} */
  readonly compile?: Pick<CompileOptions<F>, "limits" | "onWarning" | "onError"> | undefined;
  /**
   * What becomes of a turn whose process died in the middle of it, once its lease has ended. `forget`: nothing of it was stored, as if
   * it had not been sent. `report`: it ends with `turn_interrupted`. `retry`: another process goes on behind the last node that was
   * recorded; where a node that is not idempotent may have done its work, the turn ends with `node_ambiguous`. The end goes to
   * the listeners of the session, like that of a resumed turn. `report` and `retry` run the graph with `durability: "node"`; the
   * next turn of the session, and `recover`, find such turns. @default "forget"
   */
  readonly interruptedTurns?: InterruptedTurnsPolicy | undefined;
  /** How long a turn may take, including its time in the queue; then it is cancelled with `turn_timeout`. @default no limit */
  readonly turnTimeoutMs?: number | undefined;
  /**
   * How long a cancelled turn may take to end; then its caller gets `turn_abandoned`, and its session stays taken until it ends.
   * @default 5000
   */
  readonly abandonAfterMs?: number | undefined;
  /** Receives how each turn ended, for logs and spans. @default no report */
  readonly onTurn?: ((report: TurnReport) => void) | undefined;
  /**
   * Receives what failed without failing a turn: what tools and observers threw, unless `compile.onError` is set, is among it.
   * @default `process.emitWarning`, or `reportError` in browsers
   */
  readonly onError?: OnError | undefined;
  /** Creates ids of invocations and sessions. @default random UUIDs of version 4 */
  readonly createId?: CreateId | undefined;
  /** Time. @default that of the system */
  readonly clock?: Clock | undefined;
}

/** Throws `invalid_argument` for options under which no turn could run: a graph of another kind, a policy that needs leases without them. */
export const demandEngine = <F extends ChatFields>({
  graph,
  session = {},
  interruptedTurns = "forget",
  turnTimeoutMs,
}: ChatHarnessOptions<F>): void => {
  const { concurrency = "lease" } = session;
  if (interruptedTurns !== "forget" && concurrency !== "lease")
    throw new InvalidArgumentError('interruptedTurns needs the session option concurrency: "lease"');
  if (turnTimeoutMs !== undefined) checkNumber("turnTimeoutMs", turnTimeoutMs, { min: 0 });
  if (typeof (graph as { readonly compile?: unknown } | undefined)?.compile === "function") return;
  const why = "the harness compiles it over its store";
  throw new InvalidArgumentError(`graph must be the result of defineGraph(…), without .compile(): ${why}`);
};

/** The options of one turn. */
export interface TurnOptions extends ChatCallOptions {
  /** Available to nodes in their context. @default {} */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
}

/** Options of `close`. */
export interface CloseOptions {
  /**
   * How long running turns may take to end; then they are cancelled, and `close` waits for another `abandonAfterMs`.
   * @default no limit
   */
  readonly timeoutMs?: number | undefined;
}

/** Options of `recover`. */
export interface RecoverOptions {
  /** Only this session. @default all */
  readonly sessionId?: string | undefined;
}
