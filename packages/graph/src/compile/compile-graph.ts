import { warnPlatform } from "@harnesskit/wire";
import type { CompileOptions, GraphWarning } from "../compile-options.ts";
import { CompiledGraph } from "../compiled-graph.ts";
import type { GraphDefinition } from "../definition.ts";
import { checkCompileOptions } from "../option-names.ts";
import { createDefaults } from "../state/apply.ts";
import type { Fields, StateSchema } from "../state/schema.ts";
import { checkDefinition } from "./check-definition.ts";
import { type Plan, type PlannedNode, type Projection, resolveProjection } from "./plan.ts";

const growing = new Set<string | undefined>(["append", "concat_flatten", "bounded_append", "merge_all"]);

/** The parent's fields that go into a subgraph and return through the same field into a reducer that adds them again. */
const roundTrips = ({ into, out }: Projection, parent: StateSchema): string[] =>
  out
    .filter(([field]) => growing.has(parent.specs.get(field)?.reducer))
    .filter(([field, sub]) => into.some(([source, target]) => source === field && target === sub))
    .map(([field]) => field);

/** The nodes of a graph, at any depth, whose own code names `suspend`: what it calls is not known. */
const suspendingIn = ({ family }: Plan): string[] =>
  [...family].flatMap(({ nodes }) =>
    [...nodes.values()]
      .filter((node) => node.kind === "body" && /\bsuspend\b/.test(String(node.body)))
      .map(({ name }) => name),
  );

const warningsOf = ({ name, kind, parts }: PlannedNode, schema: StateSchema): GraphWarning[] => [
  ...parts
    .flatMap((part) => roundTrips(part, schema))
    .map((field) => ({
      kind: "projection_reducer_round_trip" as const,
      message: `${field} goes into ${name} and comes back into a reducer that adds it again`,
    })),
  ...(kind === "fan_out" || kind === "parallel" ? parts : [])
    .flatMap(({ plan }) => suspendingIn(plan))
    .map((inner) => ({
      kind: "suspends_beside_others" as const,
      message: `${inner} suspends inside of ${name}: that cancels what runs beside it, and a resume goes on behind ${name}; suspend in a node behind ${name} to keep the results of all`,
    })),
];

/** Checks a declared graph and makes it ready to run. Throws a `GraphCompileError`, and `invalid_argument` for invalid options. */
export const compileGraph = <F extends Fields, Inner>(
  definition: GraphDefinition,
  options: CompileOptions<F>,
): CompiledGraph<F, Inner> => {
  checkCompileOptions(options);
  const { state: schema, edges, middleware } = definition;
  const entry = checkDefinition(definition);
  const targets = new Map(edges.map(({ from, to }) => [from, to]));
  const planned = definition.nodes.map(
    (node): PlannedNode => ({
      ...node,
      to: targets.get(node.name) as string,
      middleware: [...middleware, ...node.middleware],
      parts: node.parts.map(({ name, graph: { plan }, projection }) => ({
        name,
        plan,
        ...resolveProjection(projection, schema, plan.schema),
      })),
    }),
  );
  const nodes = new Map(planned.map((node) => [node.name, node]));
  const family = new Set<Plan>();
  const plan: Plan = {
    schema,
    entry: nodes.get(entry) as PlannedNode,
    nodes,
    defaults: createDefaults(schema),
    family,
    observers: [],
  };
  family.add(plan);
  for (const { parts } of planned) {
    for (const inner of parts) for (const member of inner.plan.family) family.add(member);
  }
  const warnings = planned.flatMap((node) => warningsOf(node, schema));
  const { onWarning = (warning) => warnPlatform("GraphWarning", warning) } = options;
  for (const warning of warnings) onWarning(warning);
  return new CompiledGraph<F, Inner>(plan, warnings, options);
};
