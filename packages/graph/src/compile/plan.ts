import type { AnyMiddleware, EdgeDefinition, Mapping, NodeKind, ProjectionOptions } from "../definition.ts";
import type { Registration } from "../observers/observers.ts";
import type { StateSchema } from "../state/schema.ts";
import type { Snapshot } from "../state/snapshot.ts";

/** Pairs of a parent's field and a subgraph's: what is copied in, and what is merged out. */
export interface Projection {
  readonly into: readonly (readonly [parent: string, sub: string])[];
  readonly out: readonly (readonly [parent: string, sub: string])[];
}

/** A graph inside of a node, ready to run. */
export interface PlannedPart extends Projection {
  /** The name of a branch; empty for others. */
  readonly name: string;
  readonly plan: Plan;
}

/** A node with everything that it needs to run. */
export type PlannedNode = NodeKind & {
  readonly name: string;
  readonly to: EdgeDefinition["to"];
  /** That of the graph and its own, outermost first. */
  readonly middleware: readonly AnyMiddleware[];
  readonly parts: readonly PlannedPart[];
};

/** A graph that was checked. */
export interface Plan {
  readonly schema: StateSchema;
  readonly entry: PlannedNode;
  readonly nodes: ReadonlyMap<string, PlannedNode>;
  readonly defaults: () => Snapshot;
  /** The plans of all graphs in it at any depth, including itself. */
  readonly family: ReadonlySet<Plan>;
  /** The observers that are attached now; replaced and never changed. */
  observers: readonly Registration[];
}

/** The pairs of a mapping, the field that is written first. */
const pairsOf = (mapping: Mapping = {}): (readonly [string, string])[] =>
  Object.entries(mapping).flatMap(([to, from]) => (from === undefined ? [] : [[to, from] as const]));

const alike = (names: readonly string[] = []) => names.map((name) => [name, name] as const);

/** The projection of a subgraph or branch, in the form that was declared. */
export const resolveProjection = (
  { inputs, outputs, projectsIn, projectsOut }: ProjectionOptions,
  parent: StateSchema,
  sub: StateSchema,
): Projection => {
  if (projectsIn !== undefined || projectsOut !== undefined) {
    return { into: alike(projectsIn), out: alike(projectsOut) };
  }
  const shared = [...parent.specs.keys()].filter((name) => sub.specs.has(name));
  const into = pairsOf(inputs).map(([to, from]) => [from, to] as const);
  return { into, out: outputs === undefined ? alike(shared) : pairsOf(outputs) };
};
