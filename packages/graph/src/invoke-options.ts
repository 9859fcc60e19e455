import type { JsonValue } from "@harnesskit/protocol/envelope";
import type { Durability } from "./compile-options.ts";
import type { ObserverInput } from "./observers/observers.ts";
import type { InvocationEnd } from "./outcome.ts";
import type { Fields, InitialOf, StateOf } from "./state/schema.ts";
import type { LeaseProof } from "./stores/lease-store.ts";

/**
 * What you know of a place that is ambiguous: `rerun`: it has not happened, or may happen again. `done`: it has happened, and this
 * is the update of the node, or the result of the effect.
 */
export type Resolution = { readonly kind: "rerun" } | { readonly kind: "done"; readonly result: JsonValue };

interface CommonOptions<F extends Fields> {
  /** As in the options of the graph, for this invocation. @default that of the graph */
  readonly durability?: Durability;
  /**
   * What becomes of the record of a run, with `durability: "node"`, that was cancelled or is ambiguous: it is kept, so that it can be
   * recovered, or it ends like that of a run that failed. @default "keep"
   */
  readonly unfinished?: "keep" | "end";
  /** Observers of this invocation, after those that are attached to graphs. @default [] */
  readonly observers?: readonly ObserverInput[];
  /** Available to nodes in their context. @default {} */
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** Cancels the invocation: no further node begins, and the signals of running ones abort. @default never */
  readonly signal?: AbortSignal;
  /**
   * Leases of the caller; writes are refused when one is lost (`session_write_conflict`). That of the session, `session:` and its id,
   * is not taken again. @default []
   */
  readonly leases?: readonly LeaseProof[];
  /**
   * Ends a run that an earlier process began, as one that failed with this error, and runs nothing of it. Without such a run, it
   * changes nothing. @default the run goes on
   */
  readonly giveUp?: Error | undefined;
  /**
   * Refuses a pause for a signal that another invocation waits for: it fails with `suspension_persistence_failed`, whose
   * cause has the code `signal_taken`. @default false
   */
  readonly isSignalUnique?: boolean;
  /**
   * Returns what is stored as `result` with the record of a suspension, in the same write as its end or pause. After an end, the
   * record counts as not delivered until a patch says so; undefined: there is nothing to deliver. Called for every pause,
   * and for the end of a run that was resumed or recovered. @default nothing is kept
   */
  readonly settle?: (end: InvocationEnd<F>) => JsonValue | undefined;
}

/** How an invocation begins. */
export interface StartOptions<F extends Fields = Fields> extends CommonOptions<F> {
  /**
   * Values to begin with: merged by the reducers over what a session has of the field, in place of a default. As a function,
   * called once, with the state as it was loaded or null. @default {}
   */
  readonly initial?: InitialOf<F> | ((loaded: StateOf<F> | null) => InitialOf<F> | undefined) | undefined;
  /** The session to load, and to save at the end. Not empty. @default none */
  readonly sessionId?: string | undefined;
  /** Any text of letters, digits and `-._~`. @default a random UUID */
  readonly correlationId?: string | undefined;
  /** @default a random UUID */
  readonly invocationId?: string | undefined;
  readonly resumeInvocation?: undefined;
  readonly signalPayload?: undefined;
}

/**
 * What a signal brings: values of fields, each of the innermost paused graph that declares it. `Inner` are the payloads of
 * the graph's subgraphs.
 */
export type SignalPayload<F extends Fields = Fields, Inner = never> = InitialOf<F> | Inner;

/** How a paused invocation goes on. Its ids and its session are those that it has. */
export interface ResumeOptions<F extends Fields = Fields, Inner = never> extends CommonOptions<F> {
  /** The id of the paused invocation. */
  readonly resumeInvocation: string;
  /**
   * Values that are put over the paused state, as they are. A field that no paused graph declares is refused with
   * `suspension_resume_payload_invalid`.
   */
  readonly signalPayload: SignalPayload<F, Inner>;
}

/**
 * How a run goes on that an earlier process began with `durability: "node"` and did not end. Its recorded nodes are not repeated. A
 * run from its beginning gets a new invocation id, and keeps its session and correlation id; one that a signal has
 * resumed keeps its invocation id too.
 */
export interface RecoverOptions<F extends Fields = Fields> extends CommonOptions<F> {
  /** The id of the run, which is the invocation id that it began with. */
  readonly resumeInvocation: string;
  readonly signalPayload?: undefined;
  /** By the key of an ambiguous place, what is known of it. @default {} */
  readonly resolve?: Readonly<Record<string, Resolution>> | undefined;
}

export type InvokeOptions<F extends Fields = Fields, Inner = never> =
  | StartOptions<F>
  | RecoverOptions<F>
  | ResumeOptions<F, Inner>;
