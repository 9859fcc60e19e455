import type { GraphDefinition, NodeDefinition, ProjectionOptions } from "../definition.ts";
import { END } from "../end.ts";
import { GraphCompileError } from "../errors.ts";
import type { StateSchema } from "../state/schema.ts";

const checkReducers = ({ state }: GraphDefinition): void => {
  const [conflict] = state.conflicts;
  if (conflict !== undefined) {
    throw new GraphCompileError("conflicting_reducers", `${conflict} is declared in two ways`);
  }
  for (const { name, spec } of state.slots) {
    if (spec.problem !== undefined) {
      throw new GraphCompileError(
        "reducer_configuration_invalid",
        `${spec.reducer} of ${name}: ${spec.problem}`,
      );
    }
  }
};

const demandField = (schema: StateSchema, field: string, node: string, whose: string): void => {
  if (schema.places.has(field)) return;
  throw new GraphCompileError(
    "mapping_references_undeclared_field",
    `${node} refers to ${field}, which ${whose} does not declare`,
  );
};

const checkMapping = (
  node: string,
  parent: StateSchema,
  sub: StateSchema,
  { inputs = {}, outputs = {}, projectsIn = [], projectsOut = [] }: ProjectionOptions,
): void => {
  const inParent = (field: string) => demandField(parent, field, node, "its graph");
  const inSub = (field: string) => demandField(sub, field, node, "the subgraph");
  for (const [to, from] of Object.entries(inputs)) {
    inSub(to);
    inParent(from);
  }
  for (const [to, from] of Object.entries(outputs)) {
    inParent(to);
    inSub(from);
  }
  for (const field of [...projectsIn, ...projectsOut]) {
    inParent(field);
    inSub(field);
  }
};

const checkNodeMappings = (parent: StateSchema, node: NodeDefinition): void => {
  switch (node.kind) {
    case "body":
      return;
    case "subgraph": {
      const { inputs, outputs, projectsIn, projectsOut } = node.projection;
      if ((inputs ?? outputs) !== undefined && (projectsIn ?? projectsOut) !== undefined) {
        throw new GraphCompileError(
          "conflicting_projection_forms",
          `${node.name} declares inputs or outputs beside projectsIn or projectsOut`,
        );
      }
      checkMapping(node.name, parent, node.graph.state, node.projection);
      return;
    }
    case "fan_out": {
      const { fanOut } = node;
      const sub = fanOut.graph.state;
      checkMapping(node.name, parent, sub, { inputs: fanOut.inputs });
      for (const field of [fanOut.itemsField, fanOut.targetField, fanOut.errorsField]) {
        if (field !== undefined) demandField(parent, field, node.name, "its graph");
      }
      for (const field of [fanOut.itemField, fanOut.collectField])
        demandField(sub, field, node.name, "the subgraph");
      return;
    }
    case "parallel":
      if (node.errorsField !== undefined) demandField(parent, node.errorsField, node.name, "its graph");
      for (const { graph, inputs, outputs = {} } of node.branches.values()) {
        checkMapping(node.name, parent, graph.state, { inputs, outputs });
      }
  }
};

const checkEdges = ({ nodes, edges }: GraphDefinition): void => {
  const names = new Set(nodes.map(({ name }) => name));
  for (const { from, to } of edges) {
    if (!names.has(from))
      throw new GraphCompileError("dangling_edge", `an edge begins at ${from}, which is no node`);
    if (typeof to === "string" && !names.has(to)) {
      throw new GraphCompileError("dangling_edge", `the edge of ${from} leads to ${to}, which is no node`);
    }
    if (typeof to !== "string" && typeof to !== "function" && to !== END) {
      throw new GraphCompileError("dangling_edge", `the edge of ${from} leads to nothing that is known`);
    }
  }
  const seen = new Set<string>();
  for (const { from } of edges) {
    if (seen.has(from))
      throw new GraphCompileError("multiple_outgoing_edges", `${from} has more than one edge`);
    seen.add(from);
  }
};

/** Comes last: a node that nothing leads to is often one whose edge was forgotten, too. */
const checkEnds = ({ nodes, edges }: GraphDefinition): void => {
  const end = nodes.find(({ name }) => !edges.some(({ from }) => from === name));
  if (end === undefined) return;
  throw new GraphCompileError("missing_outgoing_edge", `${end.name} has no edge; lead it to END`);
};

const checkReach = ({ nodes, edges }: GraphDefinition, entry: string): void => {
  const edgeOf = new Map(edges.map((edge) => [edge.from, edge.to]));
  const reached = new Set([entry]);
  for (const name of reached) {
    const to = edgeOf.get(name);
    if (typeof to === "string") reached.add(to);
    // A conditional edge may lead anywhere.
    if (typeof to === "function") for (const node of nodes) reached.add(node.name);
  }
  const lost = nodes.find(({ name }) => !reached.has(name));
  if (lost === undefined) return;
  const open = [...reached].find((name) => !edgeOf.has(name));
  const hint = open === undefined ? "" : `; ${open} has no edge`;
  throw new GraphCompileError("unreachable_node", `no way leads from ${entry} to ${lost.name}${hint}`);
};

/** Finds what is wrong with a graph as it was declared; gives its entry. Throws a {@link GraphCompileError}. */
export const checkDefinition = (definition: GraphDefinition): string => {
  const { state, nodes, entry } = definition;
  const names = new Set<string>();
  for (const { name } of nodes) {
    if (names.has(name)) throw new GraphCompileError("duplicate_node", `two nodes are called ${name}`);
    names.add(name);
  }
  checkReducers(definition);
  for (const node of nodes) checkNodeMappings(state, node);
  if (entry === undefined) throw new GraphCompileError("no_declared_entry", "the graph has no entry");
  if (!names.has(entry)) throw new GraphCompileError("no_declared_entry", `the entry ${entry} is no node`);
  checkEdges(definition);
  checkReach(definition, entry);
  checkEnds(definition);
  return entry;
};
