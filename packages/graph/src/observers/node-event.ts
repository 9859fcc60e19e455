import type { SignalDescriptor } from "@harnesskit/protocol/chat";

export type EventPhase = "started" | "completed" | "suspended";

/** Why a node failed. */
export interface EventError {
  /** The code of the error: `node_exception`, `edge_exception`, `reducer_error` … */
  readonly category: string;
  readonly instance: unknown;
}

/** What a fan-out runs. */
export interface FanOutConfig {
  readonly item_count: number;
  readonly concurrency: number;
  readonly error_policy: "fail_fast" | "collect";
}

/** What parallel branches run. */
export interface ParallelBranchesConfig {
  readonly branch_names: readonly string[];
  readonly error_policy: "fail_fast" | "collect";
}

/** What happened to a node. States are frozen. Each attempt has one `started` event and one event of another phase. */
export interface NodeEvent {
  readonly phase: EventPhase;
  readonly invocation_id: string;
  readonly correlation_id: string;
  readonly node_name: string;
  /** The names on the way to the node, outermost first, itself last. */
  readonly namespace: readonly string[];
  /** Counts the nodes of an invocation from 0, those of subgraphs among them; the same for all attempts of a node. */
  readonly step: number;
  /** The state that the node received. */
  readonly pre_state: object;
  /** With `completed`, unless the node failed: the state after its update, or after the update of the middleware that recovered it. */
  readonly post_state?: object;
  /** With `completed`, if the node failed. */
  readonly error?: EventError;
  /** With `suspended`: the signal that the node waits for. */
  readonly descriptor?: SignalDescriptor;
  /** The states of the enclosing graphs when they entered the subgraph, outermost first. */
  readonly parent_states: readonly object[];
  readonly attempt_index: number;
  /** The index of the item in the innermost fan-out around the node. */
  readonly fan_out_index?: number;
  /** The name of the innermost parallel branch around the node. */
  readonly branch_name?: string;
  /** For each name on the way to the node, itself left out: the index of the item that was entered there; null for none. */
  readonly fan_out_index_chain: readonly (number | null)[];
  /** The same for branches, by their names. */
  readonly branch_name_chain: readonly (string | null)[];
  /** On events of a fan-out node itself. */
  readonly fan_out_config?: FanOutConfig;
  /** On events of a node with parallel branches itself. */
  readonly parallel_branches_config?: ParallelBranchesConfig;
}

/** Receives events. What it throws goes to `onError` and changes nothing. */
export type Observer = (event: NodeEvent) => unknown;
