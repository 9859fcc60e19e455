import type { JsonObject } from "@harnesskit/protocol/envelope";
import type { Fields } from "../state/schema.ts";

/** A step from one version of the stored state to another. */
export interface Migration {
  readonly from: string;
  readonly to: string;
  /** Receives a copy of the stored fields, which it may change; returns the fields of the other version. */
  readonly migrate: (state: JsonObject) => JsonObject | PromiseLike<JsonObject>;
}

/** How a graph keeps sessions: the option `session` of `compile`. */
export interface SessionOptions<F extends Fields = Fields> {
  /**
   * Which fields belong to the session: all, those named, or by each field the name that it is stored under. The others are
   * never stored and begin with their defaults. @default "all"
   */
  readonly fields?:
    | "all"
    | readonly (keyof F & string)[]
    | { readonly [K in keyof F & string]?: string }
    | undefined;
  /** The version of the stored fields. @default the empty string: no version */
  readonly schemaVersion?: string | undefined;
  /**
   * How states of other versions become this one; the shortest chain is used. Two for the same pair do not compile
   * (`session_state_migration_chain_ambiguous`). @default []
   */
  readonly migrations?: readonly Migration[] | undefined;
  /** Saves the session when a run ends, and when it pauses. @default true */
  readonly autoSave?: boolean | undefined;
  /**
   * What happens when two runs of one session meet. `last-write-wins`: the one that ends last is stored.
   * `optimistic`: its write is refused with `session_write_conflict`. `lease`: it waits until the other has ended.
   * @default "last-write-wins"
   */
  readonly concurrency?: "last-write-wins" | "optimistic" | "lease" | undefined;
  /** How long a lease outlives a process that died, in milliseconds. @default 30000 */
  readonly leaseTtlMs?: number | undefined;
  /** How long a run waits for a lease, in milliseconds; then it fails with `session_write_conflict`. @default 60000 */
  readonly leaseWaitMs?: number | undefined;
}
