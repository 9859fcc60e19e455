import type { Clock } from "@harnesskit/wire";
import type { GraphWarning } from "./observers/warn.ts";
import type { SessionOptions } from "./sessions/session-options.ts";
import type { Fields } from "./state/schema.ts";
import type { GraphStore } from "./stores/graph-store.ts";

/** How a graph runs. Where it runs as a part of another graph, the options of that one count. */
export interface CompileOptions<F extends Fields = Fields> {
  /**
   * Where sessions and suspensions are kept. @default no session is kept, and suspensions in the memory of this graph
   */
  readonly store?: GraphStore;
  /** How sessions are kept, where there is a store. @default the whole state, without a version */
  readonly session?: SessionOptions<F>;
  /** How many nodes one invocation runs at most. @default 100000 */
  readonly maxSteps?: number;
  /** How many events of one invocation may wait for slow observers; those beyond are dropped. @default 100000 */
  readonly maxQueuedEvents?: number;
  /** Told of what goes wrong beside a run. @default `process.emitWarning`, or `reportError` in browsers */
  readonly onWarning?: (warning: GraphWarning) => void;
  /** Makes ids of invocations. @default random UUIDs of version 4 */
  readonly createId?: () => string;
  /** Time. @default that of the system */
  readonly clock?: Clock;
}
