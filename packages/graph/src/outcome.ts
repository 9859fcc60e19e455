import type { SignalDescriptor } from "@harnesskit/protocol/chat";
import type { Fields, StateOf } from "./state/schema.ts";

interface Facts<State> {
  readonly invocation_id: string;
  readonly correlation_id: string;
  /** The session that it belongs to; null for none. */
  readonly session_id: string | null;
  /** The state that the run, or this part of it, began with: loaded, migrated, merged with what was supplied. */
  readonly entry_state: State;
}

/** The graph came to its end. */
export interface CompletedOutcome<State> extends Facts<State> {
  readonly outcome: "completed";
  readonly state: State;
}

/** A node suspended; the invocation can be resumed by its id, also in another process. */
export interface SuspendedOutcome<State> extends Facts<State> {
  readonly outcome: "suspended";
  /** The state of the outermost graph at the pause. */
  readonly state: State;
  readonly descriptor: SignalDescriptor;
  /** The outermost node on the way to the one that suspended. */
  readonly node_name: string;
  /** The names on the way to the node that suspended, outermost first. */
  readonly namespace: readonly string[];
}

/** What came of an invocation that did not fail. */
export type GraphOutcome<F extends Fields = Fields> =
  | CompletedOutcome<StateOf<F>>
  | SuspendedOutcome<StateOf<F>>;

/** How a part of an invocation ended, for what is to be kept of it with its record. */
export type InvocationEnd<F extends Fields = Fields> =
  | GraphOutcome<F>
  | { readonly outcome: "errored"; readonly error: unknown; readonly invocation_id: string };
