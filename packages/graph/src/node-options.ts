import type { Resolved } from "@harnesskit/wire";
import type { CompiledGraph } from "./compiled-graph.ts";
import type { Middleware } from "./run/context.ts";
import type { Fields } from "./state/schema.ts";

export type ErrorPolicy = "fail_fast" | "collect";

/** The names of a state's fields. */
export type FieldNames<F extends Fields> = keyof F & string;
/** Maps fields of one state (the keys) to fields of another (the values). */
export type FieldMapping<To extends Fields, From extends Fields> = {
  readonly [K in FieldNames<To>]?: FieldNames<From>;
};

export interface NodeOptions<F extends Fields> {
  /** Middleware of this node alone, outermost first. The graph's own middleware runs around it. @default [] */
  readonly middleware?: readonly Middleware<F>[] | undefined;
}

/** How a node with a body runs. */
export interface BodyOptions<F extends Fields> extends NodeOptions<F> {
  /**
   * True: the body may run again with the same state, because it changes nothing outside, or because its effects go through
   * `context.effect` or carry `context.idempotencyKey`. With `durability: "node"`, a body that had begun when its process died
   * runs again; one that is not idempotent ends the recovery with `node_ambiguous`. @default false
   */
  readonly idempotent?: boolean | undefined;
}

/**
 * A subgraph and its projection. Without a projection nothing is copied in, and the fields that both states have are merged out by
 * their reducers. `inputs` and `outputs` are independent of each other. `projectsIn` and `projectsOut` belong together: the one
 * that you leave out is empty.
 */
export type SubgraphOptions<F extends Fields, Sub extends Fields, Inner = never> = NodeOptions<F> & {
  readonly graph: CompiledGraph<Sub, Inner>;
  /** For each field of the subgraph, the field of this graph that is copied into it. @default nothing is copied */
  readonly inputs?: FieldMapping<Sub, F> | undefined;
  /**
   * For each field of this graph, the field of the subgraph that is merged into it; no other field is then merged.
   * @default the fields of the same name
   */
  readonly outputs?: FieldMapping<F, Sub> | undefined;
  /** Fields of the same name that are copied in. @default none, if `projectsOut` is given */
  readonly projectsIn?: readonly (FieldNames<F> & FieldNames<Sub>)[] | undefined;
  /** Fields of the same name that are merged out. @default none, if `projectsIn` is given */
  readonly projectsOut?: readonly (FieldNames<F> & FieldNames<Sub>)[] | undefined;
};

/** An item or a branch that failed, as the `errorsField` lists it. */
export interface CollectedError {
  /** The index of the item, or the name of the branch. */
  readonly key: number | string;
  /** What kind of failure it was; null if it is not known. */
  readonly category: string | null;
  readonly message: string;
}

/** What happens when an item or a branch fails. */
export interface ErrorPolicyOptions<F extends Fields> {
  /**
   * `fail_fast`: the first error cancels the others and fails the node. `collect`: what failed is left out; nothing in it may
   * suspend. @default "fail_fast"
   */
  readonly errorPolicy?: ErrorPolicy | undefined;
  /** With `collect`: the field into which a list of {@link CollectedError} is merged. @default none */
  readonly errorsField?: FieldNames<F> | undefined;
}

export type FanOutOptions<F extends Fields, Sub extends Fields> = NodeOptions<F> &
  ErrorPolicyOptions<F> & {
    readonly graph: CompiledGraph<Sub>;
    /** The field with the list: the subgraph runs once for each of its items. */
    readonly itemsField: FieldNames<F>;
    /** The field of the subgraph that gets the item. */
    readonly itemField: FieldNames<Sub>;
    /** The field of the subgraph that is the item's result. */
    readonly collectField: FieldNames<Sub>;
    /** The field into which the list of results, in the order of the items, is merged. */
    readonly targetField: FieldNames<F>;
    /** For each field of the subgraph, the field of this graph that is copied into each instance. @default {} */
    readonly inputs?: FieldMapping<Sub, F> | undefined;
    /** How many instances run at once. @default 10 */
    readonly concurrency?: number | undefined;
    /** What an empty list means: an error (`fan_out_empty`), or nothing to do. @default "raise" */
    readonly onEmpty?: "raise" | "noop" | undefined;
  };

/** The options of a fan-out over any state, with their defaults. */
export type CheckedFanOut = FanOutOptions<Fields, Fields> &
  Resolved<Pick<FanOutOptions<Fields, Fields>, "concurrency" | "errorPolicy" | "onEmpty">>;

export interface BranchOptions<F extends Fields, Sub extends Fields> {
  readonly graph: CompiledGraph<Sub>;
  /** For each field of the subgraph, the field of this graph that is copied into it. @default {} */
  readonly inputs?: FieldMapping<Sub, F> | undefined;
  /** For each field of this graph, the field of the subgraph that is merged into it. @default the fields of the same name */
  readonly outputs?: FieldMapping<F, Sub> | undefined;
}

export type ParallelOptions<
  F extends Fields,
  Branches extends Readonly<Record<string, Fields>>,
> = NodeOptions<F> &
  ErrorPolicyOptions<F> & {
    /** The branches by name. All run at once; their updates are merged in this order when all are done. */
    readonly branches: { readonly [Name in keyof Branches]: BranchOptions<F, Branches[Name]> };
  };
