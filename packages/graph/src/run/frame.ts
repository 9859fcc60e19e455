import type { Plan } from "../compile/plan.ts";
import type { Registration } from "../observers/observers.ts";
import type { Snapshot } from "../state/snapshot.ts";
import type { AbortScope } from "./abort-scope.ts";
import type { Invocation } from "./invocation.ts";

/** One run of one graph inside of an invocation. */
export interface Frame {
  readonly invocation: Invocation;
  readonly plan: Plan;
  /** The names of the nodes that lead here, outermost first. */
  readonly namespace: readonly string[];
  /** What the keys of its nodes begin with; see `Journal`. */
  readonly path: string;
  /** The states of the graphs around, when they entered here. */
  readonly parents: readonly Snapshot[];
  /** The observers that are attached to the graphs from the outermost to this one. */
  readonly attached: readonly Registration[];
  /** For each name in the namespace, the index of the item that was entered there; null for none. */
  readonly fanOutIndexes: readonly (number | null)[];
  /** For each name in the namespace, the branch that was entered there; null for none. */
  readonly branchNames: readonly (string | null)[];
  /** False where errors are collected. */
  readonly canSuspend: boolean;
  readonly abort: AbortScope;
}

/** What names an instance of a fan-out, or a branch. */
export type TaskName = { readonly fan_out_index?: number; readonly branch_name?: string };

const innermost = <T>(chain: readonly (T | null)[]): T | undefined =>
  chain.findLast((entry) => entry !== null) ?? undefined;

/** The innermost fan-out, and the innermost branches, around a graph. */
export const innermostTask = ({ fanOutIndexes, branchNames }: Frame) => ({
  fanOutIndex: innermost(fanOutIndexes),
  branchName: innermost(branchNames),
});

/** The run of a graph inside of a node of another one. */
export const innerFrame = (
  outer: Frame,
  nodeName: string,
  plan: Plan,
  state: Snapshot,
  { task = {}, ...change }: Pick<Frame, "abort" | "path" | "canSuspend"> & { readonly task?: TaskName },
): Frame => ({
  ...outer,
  plan,
  namespace: [...outer.namespace, nodeName],
  parents: [...outer.parents, state],
  fanOutIndexes: [...outer.fanOutIndexes, task.fan_out_index ?? null],
  branchNames: [...outer.branchNames, task.branch_name ?? null],
  attached: [...outer.attached, ...outer.invocation.attachedTo(plan)],
  ...change,
});
