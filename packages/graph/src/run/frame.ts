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
  /** The states of the graphs around, when they entered here. */
  readonly parents: readonly Snapshot[];
  /** Attached to the graphs from the outermost to this one, and then those of the invocation. */
  readonly observers: readonly Registration[];
  /** For each name in the namespace, the index of the item that was entered there; null where it was none. */
  readonly fanOutIndexes: readonly (number | null)[];
  /** For each name in the namespace, the branch that was entered there; null where it was none. */
  readonly branchNames: readonly (string | null)[];
  /** False where errors are collected: what suspended there could not be told from what failed. */
  readonly canSuspend: boolean;
  readonly abort: AbortScope;
}

/** The entry of the innermost fan-out, or branches, around a graph; undefined where there are none. */
export const innermost = <T>(chain: readonly (T | null)[]): T | undefined =>
  chain.findLast((entry) => entry !== null) ?? undefined;

interface FrameChange {
  /** The item that it is the instance of. */
  readonly fanOutIndex?: number;
  /** The branch that it is. */
  readonly branchName?: string;
  readonly canSuspend?: boolean;
  readonly abort?: AbortScope;
}

/** The run of a graph inside of a node of another one. */
export const innerFrame = (
  outer: Frame,
  nodeName: string,
  plan: Plan,
  state: Snapshot,
  { fanOutIndex, branchName, ...change }: FrameChange = {},
): Frame => {
  const { invocation } = outer;
  const own = invocation.observersOf(plan);
  const passed = invocation.observers.length;
  const attached = outer.observers.slice(0, outer.observers.length - passed);
  return {
    ...outer,
    plan,
    namespace: [...outer.namespace, nodeName],
    parents: [...outer.parents, state],
    fanOutIndexes: [...outer.fanOutIndexes, fanOutIndex ?? null],
    branchNames: [...outer.branchNames, branchName ?? null],
    observers: own.length === 0 ? outer.observers : [...attached, ...own, ...invocation.observers],
    ...change,
  };
};
