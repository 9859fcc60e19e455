import type { CompileOptions } from "../compile-options.ts";
import { CompiledGraph } from "../compiled-graph.ts";
import type { EdgeDefinition, GraphDefinition, NodeDefinition } from "../definition.ts";
import { type GraphWarning, platformWarning } from "../observers/warn.ts";
import { createDefaults } from "../state/apply.ts";
import type { Fields, StateSchema } from "../state/schema.ts";
import { checkDefinition } from "./check-definition.ts";
import type { Plan, PlannedNode } from "./plan.ts";
import { type Projection, resolveProjection, roundTrips } from "./projections.ts";

const projectionsOf = (node: NodeDefinition, schema: StateSchema): readonly Projection[] => {
  if (node.kind === "subgraph") return [resolveProjection(node.projection, schema, node.graph.state)];
  if (node.kind !== "parallel") return [];
  return [...node.branches.values()].map(({ graph, inputs, outputs }) =>
    resolveProjection({ inputs, ...(outputs === undefined ? {} : { outputs }) }, schema, graph.state),
  );
};

const subgraphsOf = (node: NodeDefinition): readonly Plan[] => {
  switch (node.kind) {
    case "body":
      return [];
    case "subgraph":
      return [node.graph.plan];
    case "fan_out":
      return [node.fanOut.graph.plan];
    case "parallel":
      return [...node.branches.values()].map(({ graph }) => graph.plan);
  }
};

const warningsOf = (nodes: Iterable<PlannedNode>, schema: StateSchema): GraphWarning[] =>
  [...nodes].flatMap(({ name, projections }) =>
    projections
      .flatMap((projection) => roundTrips(projection, schema))
      .map((field): GraphWarning => {
        const message = `${field} goes into ${name} and comes back into a reducer that adds it again`;
        return { kind: "projection_reducer_round_trip", message };
      }),
  );

/** Checks a declared graph and makes it ready to run. Throws a `GraphCompileError`. */
export const compileGraph = <F extends Fields>(
  declared: GraphDefinition<F>,
  options: CompileOptions<F>,
): CompiledGraph<F> => {
  const definition = declared as unknown as GraphDefinition;
  const schema = definition.state;
  const entry = checkDefinition(definition);
  const edges = new Map(definition.edges.map((edge) => [edge.from, edge]));
  const nodes = new Map(
    definition.nodes.map((node): [string, PlannedNode] => [
      node.name,
      {
        definition: node,
        name: node.name,
        edge: edges.get(node.name) as EdgeDefinition,
        middleware: [...definition.middleware, ...node.middleware],
        projections: projectionsOf(node, schema),
      },
    ]),
  );
  const family = new Set<Plan>();
  const plan: Plan = {
    definition,
    schema,
    entry: nodes.get(entry) as PlannedNode,
    nodes,
    defaults: createDefaults(schema),
    family,
    observers: [],
  };
  family.add(plan);
  for (const node of definition.nodes) {
    for (const inner of subgraphsOf(node)) for (const member of inner.family) family.add(member);
  }
  const warnings = warningsOf(nodes.values(), schema);
  const onWarning = options.onWarning ?? platformWarning;
  for (const warning of warnings) onWarning(warning);
  return new CompiledGraph<F>(plan, warnings, options);
};
