import { END, type GraphDefinition, type NodeDefinition, type Part } from "../definition.ts";
import { GraphCompileError, type GraphCompileErrorCode } from "../errors.ts";
import type { StateSchema } from "../state/schema.ts";
import { resolveProjection } from "./plan.ts";

const fail = (code: GraphCompileErrorCode, message: string): never => {
  throw new GraphCompileError(code, message);
};

/** Fails for the first name that comes twice. */
const demandUnique = (
  names: readonly string[],
  code: GraphCompileErrorCode,
  toMessage: (name: string) => string,
): void => {
  const twice = names.find((name, index) => names.indexOf(name) < index);
  if (twice !== undefined) fail(code, toMessage(twice));
};

const checkReducers = ({ conflicts: [conflict], specs }: StateSchema): void => {
  if (conflict !== undefined) fail("conflicting_reducers", `${conflict} is declared in two ways`);
  for (const [name, { problem, reducer }] of specs) {
    if (problem !== undefined) fail("reducer_configuration_invalid", `${reducer} of ${name}: ${problem}`);
  }
};

const checkParts = (parent: StateSchema, node: NodeDefinition): void => {
  const demandField = (field: string | undefined, { specs }: StateSchema, whose: string): void => {
    if (field === undefined || specs.has(field)) return;
    const message = `${node.name} refers to ${field}, which ${whose} does not declare`;
    fail("mapping_references_undeclared_field", message);
  };
  const inParent = (field: string | undefined) => demandField(field, parent, "its graph");
  const inPart = (field: string, { graph }: Part) => demandField(field, graph.state, "the subgraph");
  for (const part of node.parts) {
    const { inputs, outputs, projectsIn, projectsOut } = part.projection;
    if ((inputs ?? outputs) !== undefined && (projectsIn ?? projectsOut) !== undefined) {
      const message = `${node.name} declares inputs or outputs beside projectsIn or projectsOut`;
      fail("conflicting_projection_forms", message);
    }
    const { into, out } = resolveProjection(part.projection, parent, part.graph.state);
    for (const [ofParent, ofPart] of [...into, ...out]) {
      inParent(ofParent);
      inPart(ofPart, part);
    }
    if (node.kind !== "fan_out") continue;
    for (const field of [node.fanOut.itemField, node.fanOut.collectField]) inPart(field, part);
  }
  if (node.kind === "parallel") inParent(node.errorsField);
  if (node.kind !== "fan_out") return;
  const { itemsField, targetField, errorsField } = node.fanOut;
  for (const field of [itemsField, targetField, errorsField]) inParent(field);
};

const checkEdges = ({ nodes, edges }: GraphDefinition): void => {
  const names = new Set(nodes.map(({ name }) => name));
  for (const { from, to } of edges) {
    if (!names.has(from)) fail("dangling_edge", `an edge begins at ${from}, which is not a node`);
    if (typeof to === "function" || to === END) continue;
    if (typeof to !== "string")
      fail("dangling_edge", `the edge of ${from} leads neither to a node nor to END`);
    else if (!names.has(to)) fail("dangling_edge", `the edge of ${from} leads to ${to}, which is not a node`);
  }
  const starts = edges.map(({ from }) => from);
  demandUnique(starts, "multiple_outgoing_edges", (name) => `${name} has more than one edge`);
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
  fail("unreachable_node", `no way leads from ${entry} to ${lost.name}${hint}`);
};

/** Comes last: often the missing edge is what makes another node unreachable. */
const checkEnds = ({ nodes, edges }: GraphDefinition): void => {
  const end = nodes.find(({ name }) => !edges.some(({ from }) => from === name));
  if (end !== undefined) fail("missing_outgoing_edge", `${end.name} has no edge; lead it to END`);
};

/** Checks a declared graph; returns its entry. Throws a {@link GraphCompileError}. */
export const checkDefinition = (definition: GraphDefinition): string => {
  const { state, nodes, entry } = definition;
  const names = nodes.map(({ name }) => name);
  demandUnique(names, "duplicate_node", (name) => `two nodes are called ${name}`);
  checkReducers(state);
  for (const node of nodes) checkParts(state, node);
  if (entry === undefined) throw new GraphCompileError("no_declared_entry", "the graph has no entry");
  if (!names.includes(entry)) fail("no_declared_entry", `the entry ${entry} is not a node`);
  checkEdges(definition);
  checkReach(definition, entry);
  checkEnds(definition);
  return entry;
};
