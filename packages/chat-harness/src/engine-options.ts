import {
  type CompiledGraph,
  type CompileOptions,
  createMemoryStore,
  type Fields,
  type GraphStore,
  type ObserverInput,
  type SessionOptions,
} from "@harnesskit/graph";
import type { SignalDescriptor } from "@harnesskit/protocol/chat";
import { type Clock, InvalidArgumentError, quietly, systemClock } from "@harnesskit/wire";
import type { CallOptions } from "./call-scope.ts";
import { demandCount, demandDuration } from "./check-options.ts";
import { Lanes } from "./lanes.ts";
import type { TurnReport } from "./turn-report.ts";
import { type OnWarning, platformWarning } from "./warning.ts";

/** A graph that is declared and not compiled yet, as `defineGraph` gives it. */
export interface GraphSource<F extends Fields> {
  compile(options?: CompileOptions<F>): CompiledGraph<F>;
}

/** An invocation that waits for a signal. */
export interface WaitingInvocation {
  readonly invocation_id: string;
  /** Null for one of no session. */
  readonly session_id: string | null;
  readonly signal_descriptor: SignalDescriptor;
}

/** What all kinds of harnesses are made with. */
export interface EngineOptions<F extends Fields> {
  /** The graph as `defineGraph` gives it, not compiled: the harness compiles it over its store. */
  readonly graph: GraphSource<F>;
  /** Where sessions and suspensions are kept. Whoever made it closes it. @default in the memory of this process */
  readonly store?: GraphStore;
  /**
   * How sessions are kept. Every turn saves its session.
   * @default the whole state without a version, under a lease that keeps other processes out
   */
  readonly session?: Omit<SessionOptions<F>, "autoSave">;
  /** How the graph runs beside that. @default {} */
  readonly compile?: Pick<CompileOptions<F>, "maxSteps" | "maxQueuedEvents" | "onWarning">;
  /** Told of every turn, behind those that are attached to the graph. @default [] */
  readonly observers?: readonly ObserverInput[];
  /** How many turns of one session may wait; another is refused with `session_busy`. @default 100 */
  readonly maxQueuedTurns?: number;
  /** How many turns may run and wait in all; another is refused with `harness_busy`. @default 10000 */
  readonly maxTurns?: number;
  /** How long a turn may take, waiting included; then it is cancelled with `turn_timeout`. @default no limit */
  readonly turnTimeoutMs?: number;
  /**
   * How long a turn that was cancelled may take to end; then its caller gets `turn_abandoned`. Its session stays taken until it
   * ends. @default 5000
   */
  readonly abandonAfterMs?: number;
  /** How many characters the payload of a signal may have. @default 1000000 */
  readonly maxPayloadLength?: number;
  /** How many signals that were answered are remembered, so that a late repetition is known as one. @default 10000 */
  readonly maxRememberedSignals?: number;
  /**
   * Tells whatever brings signals that one is waited for, before the pause is stored. It answers at once; where it throws, the
   * turn fails with `harness_signal_subscription_failed` and nothing is stored. @default nobody is told
   */
  readonly registerSignal?: (waiting: WaitingInvocation) => void;
  /** Told how each turn ended, for logs and spans. What it throws is a warning. @default nobody is told */
  readonly onTurn?: (report: TurnReport) => void;
  /** Told of what goes wrong beside a turn. @default `process.emitWarning`, or `reportError` in browsers */
  readonly onWarning?: OnWarning;
  /** Makes ids of invocations. @default random UUIDs of version 4 */
  readonly createId?: () => string;
  /** Time. @default that of the system */
  readonly clock?: Clock;
}

/** What a caller may say of one turn. */
export interface TurnOptions extends CallOptions {
  /** Told of this turn alone. @default [] */
  readonly observers?: readonly ObserverInput[];
  /** What nodes find in their context. @default {} */
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** What a harness works with. */
export interface Engine<F extends Fields> {
  readonly graph: CompiledGraph<F>;
  readonly store: GraphStore;
  readonly lanes: Lanes;
  readonly observers: readonly ObserverInput[];
  readonly leaseTtlMs: number;
  readonly leaseWaitMs: number;
  readonly maxPayloadLength: number;
  readonly maxRememberedSignals: number;
  readonly register: (waiting: WaitingInvocation) => void;
  readonly report: (report: TurnReport) => void;
  readonly warn: OnWarning;
  readonly createId: () => string;
  readonly clock: Clock;
}

const reporter =
  (onTurn: ((report: TurnReport) => unknown) | undefined, warn: OnWarning) =>
  (report: TurnReport): void => {
    const failed = (cause: unknown) => warn({ kind: "report_failed", message: "onTurn threw", cause });
    quietly(() => onTurn?.(report), failed);
  };

/** Throws `invalid_argument` for what is no declared graph, and says what to pass. */
const demandSource = (graph: unknown): void => {
  const given = (graph ?? {}) as { readonly compile?: unknown; readonly invoke?: unknown };
  if (typeof given.compile === "function") return;
  if (typeof given.invoke === "function") {
    const pass = "pass what defineGraph(…) gives, without .compile(); the harness compiles it over its store";
    throw new InvalidArgumentError(`graph is compiled already: ${pass}`);
  }
  throw new InvalidArgumentError("graph must be what defineGraph(…) gives");
};

/** Compiles the graph and checks the limits. Throws a `GraphCompileError`, or `invalid_argument`. */
export const createEngine = <F extends Fields>(options: EngineOptions<F>): Engine<F> => {
  const { clock = systemClock, createId = () => crypto.randomUUID(), turnTimeoutMs, session = {} } = options;
  demandSource(options.graph);
  const store = options.store ?? createMemoryStore({ clock });
  const { onWarning = platformWarning } = options;
  const warn: OnWarning = (warning) => quietly(() => onWarning(warning));
  const lanes = new Lanes({
    maxQueuedTurns: demandCount(options.maxQueuedTurns ?? 100, "maxQueuedTurns", 0),
    maxTurns: demandCount(options.maxTurns ?? 10_000, "maxTurns"),
    turnTimeoutMs: turnTimeoutMs === undefined ? undefined : demandDuration(turnTimeoutMs, "turnTimeoutMs"),
    abandonAfterMs: demandDuration(options.abandonAfterMs ?? 5_000, "abandonAfterMs"),
    clock,
  });
  return {
    graph: options.graph.compile({
      ...options.compile,
      store,
      session: { concurrency: "lease", ...session, autoSave: true },
      createId,
      clock,
    }),
    store,
    lanes,
    observers: options.observers ?? [],
    leaseTtlMs: session.leaseTtlMs ?? 30_000,
    leaseWaitMs: session.leaseWaitMs ?? 60_000,
    maxPayloadLength: demandCount(options.maxPayloadLength ?? 1_000_000, "maxPayloadLength"),
    maxRememberedSignals: demandCount(options.maxRememberedSignals ?? 10_000, "maxRememberedSignals"),
    register: (waiting) => options.registerSignal?.(waiting),
    report: reporter(options.onTurn, warn),
    warn,
    createId,
    clock,
  };
};
