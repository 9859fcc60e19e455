import type { CompiledGraph } from "./compiled-graph.ts";
import type { CheckedFanOut, ErrorPolicy } from "./node-options.ts";
import type { MiddlewareContext, NextOptions, NodeContext } from "./run/context.ts";
import type { StateSchema } from "./state/schema.ts";

/** Where a graph ends. A node may be called "END"; this is not it. */
export const END: unique symbol = Symbol("END");
export type End = typeof END;

/** Maps fields of one state (the keys) to fields of another (the values). */
export type Mapping = { readonly [field: string]: string | undefined };

/** What goes into a subgraph and comes out of it, by names; see `SubgraphOptions`. */
export interface ProjectionOptions {
  readonly inputs?: Mapping | undefined;
  readonly outputs?: Mapping | undefined;
  readonly projectsIn?: readonly string[] | undefined;
  readonly projectsOut?: readonly string[] | undefined;
}

/** A node's body, whatever its state. */
export type AnyBody = (state: object, context: NodeContext) => unknown;

/** Middleware, whatever its state. */
export type AnyMiddleware = (
  state: object,
  next: (state?: object, options?: NextOptions) => Promise<unknown>,
  context: MiddlewareContext,
) => unknown;

/** A graph inside of a node: a subgraph, what a fan-out runs for each item, or a branch. */
export interface Part {
  /** The name of a branch; empty for others. */
  readonly name: string;
  readonly graph: CompiledGraph;
  readonly projection: ProjectionOptions;
}

/** What a node does. */
export type NodeKind =
  | { readonly kind: "body"; readonly body: AnyBody; readonly isIdempotent: boolean }
  | { readonly kind: "subgraph" }
  | { readonly kind: "fan_out"; readonly fanOut: CheckedFanOut }
  | {
      readonly kind: "parallel";
      readonly errorPolicy: ErrorPolicy;
      readonly errorsField: string | undefined;
    };

export type NodeDefinition = NodeKind & {
  readonly name: string;
  readonly middleware: readonly AnyMiddleware[];
  readonly parts: readonly Part[];
};

/** What follows a node: always the same, or what a function says of the state behind it. */
export interface EdgeDefinition {
  readonly from: string;
  readonly to: string | End | ((state: never) => string | End);
}

/** A graph as it was declared. */
export interface GraphDefinition {
  readonly state: StateSchema;
  readonly nodes: readonly NodeDefinition[];
  readonly edges: readonly EdgeDefinition[];
  readonly entry: string | undefined;
  readonly middleware: readonly AnyMiddleware[];
}
