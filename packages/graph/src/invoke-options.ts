import type { JsonValue } from "@harnesskit/protocol/envelope";
import type { ObserverInput } from "./observers/observers.ts";
import type { InvocationEnd } from "./outcome.ts";
import type { Fields, InitialOf, StateOf } from "./state/schema.ts";
import type { LeaseProof } from "./stores/lease-store.ts";

/**
 * What you know about an ambiguous place. `rerun`: it has not happened, or may happen again. `done`: it has happened, and `result`
 * is the update of the node, or the result of the effect.
 */
export type Resolution = { readonly kind: "rerun" } | { readonly kind: "done"; readonly result: JsonValue };

interface CommonOptions<F extends Fields> {
  /**
   * With `durability: "node"`: what becomes of the record of a run that was cancelled or is ambiguous. `keep`: the run can be
   * recovered. `end`: the record ends like that of a failed run. @default "keep"
   */
  readonly unfinished?: "keep" | "end" | undefined;
  /** Observers of this invocation, after those that are attached to graphs. @default [] */
  readonly observers?: readonly ObserverInput[] | undefined;
  /** Available to nodes in their context. @default {} */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
  /** Cancels the invocation: no further node begins, and the signals of running ones abort. @default never */
  readonly signal?: AbortSignal | undefined;
  /**
   * Leases of the caller; writes are refused when one is lost (`session_write_conflict`). That of the session, `session:` and its id,
   * is not taken again. @default []
   */
  readonly leases?: readonly LeaseProof[] | undefined;
  /**
   * Ends a run that an earlier process began, as one that failed with this error, and runs nothing of it. Without such a run, it
   * changes nothing. @default the run goes on
   */
  readonly giveUp?: Error | undefined;
  /**
   * Refuses a pause for a signal that another invocation waits for: it fails with `suspension_persistence_failed`, whose
   * cause has the code `signal_taken`. @default false
   */
  readonly isSignalUnique?: boolean | undefined;
  /**
   * Returns what is stored as `result` with the record of a suspension, in the same write as its end or pause. After an end, the
   * record counts as not delivered until a patch says so; undefined: there is nothing to deliver. Called for every pause,
   * and for the end of a run that was resumed or recovered. @default nothing is kept
   */
  readonly settle?: ((end: InvocationEnd<F>) => JsonValue | undefined) | undefined;
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
  /** Letters, digits and `-._~`. @default a random UUID */
  readonly correlationId?: string | undefined;
  /** @default a random UUID */
  readonly invocationId?: string | undefined;
  readonly resumeInvocation?: undefined;
  readonly signalPayload?: undefined;
}

/**
 * The payload of a signal: values of fields. Each goes to the innermost paused graph that declares the field. `Inner` are the
 * payloads of the graph's subgraphs.
 */
export type SignalPayload<F extends Fields = Fields, Inner = never> = InitialOf<F> | Inner;

/** Resumes a paused invocation, with its own ids and session. */
export interface ResumeOptions<F extends Fields = Fields, Inner = never> extends CommonOptions<F> {
  /** The id of the paused invocation. */
  readonly resumeInvocation: string;
  /**
   * Values that replace those of the paused state. A field that no paused graph declares is refused with
   * `suspension_resume_payload_invalid`.
   */
  readonly signalPayload: SignalPayload<F, Inner>;
}

/**
 * Continues a run that an earlier process began with `durability: "node"` and did not end. Recorded nodes are not repeated. The run
 * keeps its session and correlation id. It gets a new invocation id, unless a signal had resumed it.
 */
export interface RecoverOptions<F extends Fields = Fields> extends CommonOptions<F> {
  /** The id of the run, which is the invocation id that it began with. */
  readonly resumeInvocation: string;
  readonly signalPayload?: undefined;
  /** What you know about ambiguous places, by the keys in `error.data.places` of `node_ambiguous`. @default {} */
  readonly resolve?: Readonly<Record<string, Resolution>> | undefined;
}

/** A new run, one that resumes, or one that recovers. */
export type InvokeOptions<F extends Fields = Fields, Inner = never> =
  | StartOptions<F>
  | RecoverOptions<F>
  | ResumeOptions<F, Inner>;
