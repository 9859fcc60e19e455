import type { AnyMiddleware, EdgeDefinition, GraphDefinition, NodeDefinition } from "../definition.ts";
import type { Registration } from "../observers/observers.ts";
import type { StateSchema } from "../state/schema.ts";
import type { Snapshot } from "../state/snapshot.ts";
import type { Projection } from "./projections.ts";

/** A node with everything that running it needs. */
export interface PlannedNode {
  readonly definition: NodeDefinition;
  readonly name: string;
  readonly edge: EdgeDefinition;
  /** That of the graph and its own, outermost first. */
  readonly middleware: readonly AnyMiddleware[];
  /** Of a subgraph, or of each branch. */
  readonly projections: readonly Projection[];
}

/** A graph that was checked. */
export interface Plan {
  readonly definition: GraphDefinition;
  readonly schema: StateSchema;
  readonly entry: PlannedNode;
  readonly nodes: ReadonlyMap<string, PlannedNode>;
  readonly defaults: () => Snapshot;
  /** The plans of all graphs in it at any depth, itself among them. */
  readonly family: ReadonlySet<Plan>;
  /** The observers that are attached now; replaced and never changed. */
  observers: readonly Registration[];
}
