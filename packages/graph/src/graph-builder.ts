import { checkNumber, InvalidArgumentError } from "@harnesskit/wire";
import { compileGraph } from "./compile/compile-graph.ts";
import type { CompileOptions } from "./compile-options.ts";
import type { CompiledGraph } from "./compiled-graph.ts";
import type {
  AnyBody,
  AnyMiddleware,
  End,
  GraphDefinition,
  NodeKind,
  Part,
  ProjectionOptions,
} from "./definition.ts";
import type { SignalPayload } from "./invoke-options.ts";
import type {
  BodyOptions,
  CheckedFanOut,
  FanOutOptions,
  NodeOptions,
  ParallelOptions,
  SubgraphOptions,
} from "./node-options.ts";
import type { Middleware, NodeContext, NodeResult } from "./run/context.ts";
import type { Fields, StateOf, StateSchema, UpdateOf } from "./state/schema.ts";

/** Refuses a body that returns fields which the state does not have. */
export type CheckExtra<Update, Given> = [Given] extends [never]
  ? unknown
  : Given extends object
    ? Exclude<keyof Given, keyof Update> extends never
      ? unknown
      : { readonly notInTheState: Exclude<keyof Given, keyof Update> }
    : unknown;

const untyped = <F extends Fields>(middleware: readonly Middleware<F>[] = []): readonly AnyMiddleware[] =>
  middleware as unknown as readonly AnyMiddleware[];

const toPart = (graph: unknown, projection: ProjectionOptions, name = ""): Part => ({
  name,
  graph: graph as CompiledGraph,
  projection,
});

/**
 * Declares a graph, step by step; every step returns a new builder. `Names` are the nodes that are declared so far: an edge
 * names no other, so declare the nodes first. `Inner` are the payloads that signals may bring for subgraphs.
 */
export class GraphBuilder<F extends Fields, Names extends string = never, Inner = never> {
  readonly #definition: GraphDefinition;

  /** @internal */
  constructor(definition: GraphDefinition) {
    this.#definition = definition;
  }

  #with<Next extends GraphBuilder<F, string, unknown>>(change: Partial<GraphDefinition>): Next {
    return new GraphBuilder({ ...this.#definition, ...change }) as unknown as Next;
  }

  #withNode<Name extends string, More = never>(
    name: Name,
    { middleware }: NodeOptions<F>,
    kind: NodeKind,
    parts: readonly Part[] = [],
  ): GraphBuilder<F, Names | Name, Inner | More> {
    const node = { ...kind, name, middleware: untyped(middleware), parts };
    return this.#with({ nodes: [...this.#definition.nodes, node] });
  }

  /** Adds a node: a function of the state that returns an update, which the fields' reducers merge. */
  node<const Name extends string, Out extends NodeResult<F> | PromiseLike<NodeResult<F>>>(
    name: Name,
    body: ((state: StateOf<F>, context: NodeContext<F>) => Out) & CheckExtra<UpdateOf<F>, Awaited<Out>>,
    options: BodyOptions<F> = {},
  ): GraphBuilder<F, Names | Name, Inner> {
    const isIdempotent = options.idempotent ?? false;
    return this.#withNode(name, options, { kind: "body", body: body as unknown as AnyBody, isIdempotent });
  }

  /** Adds a node that runs another graph. Observers see only the nodes inside it. */
  subgraph<const Name extends string, Sub extends Fields, SubInner = never>(
    name: Name,
    options: SubgraphOptions<F, Sub, SubInner>,
  ): GraphBuilder<F, Names | Name, Inner | SignalPayload<Sub, SubInner>> {
    const parts = [toPart(options.graph, options)];
    return this.#withNode<Name, SignalPayload<Sub, SubInner>>(name, options, { kind: "subgraph" }, parts);
  }

  /** Adds a node that runs another graph once for each item of a list. Throws `invalid_argument` for an invalid `concurrency`. */
  fanOut<const Name extends string, Sub extends Fields>(
    name: Name,
    options: FanOutOptions<F, Sub>,
  ): GraphBuilder<F, Names | Name, Inner> {
    const { graph, inputs, concurrency = 10, errorPolicy = "fail_fast", onEmpty = "raise" } = options;
    checkNumber("concurrency", concurrency);
    const fanOut = { ...options, concurrency, errorPolicy, onEmpty } as unknown as CheckedFanOut;
    const part = toPart(graph, { inputs, outputs: {} });
    return this.#withNode(name, options, { kind: "fan_out", fanOut }, [part]);
  }

  /** Adds a node that runs several graphs side by side. Throws `invalid_argument` without a branch. */
  parallel<const Name extends string, Branches extends Readonly<Record<string, Fields>>>(
    name: Name,
    options: ParallelOptions<F, Branches>,
  ): GraphBuilder<F, Names | Name, Inner> {
    const { branches, errorPolicy = "fail_fast", errorsField } = options;
    const parts = Object.entries(branches).map(([branch, { graph, inputs, outputs }]) =>
      toPart(graph, { inputs, outputs }, branch),
    );
    if (parts.length === 0) throw new InvalidArgumentError(`${name} has no branch`);
    return this.#withNode(name, options, { kind: "parallel", errorPolicy, errorsField }, parts);
  }

  /** Runs `to`, or ends, after `from`. */
  edge(from: Names, to: Names | End): GraphBuilder<F, Names, Inner> {
    return this.#with({ edges: [...this.#definition.edges, { from, to }] });
  }

  /** Runs what `route` returns for the state after `from`: the name of a node, or `END`. `route` is synchronous and has no effects. */
  conditionalEdge<To extends Names | End>(
    from: Names,
    route: (state: StateOf<F>) => To,
  ): GraphBuilder<F, Names, Inner> {
    return this.#with({ edges: [...this.#definition.edges, { from, to: route }] });
  }

  /** Sets the node that a run begins with. */
  entry(name: Names): GraphBuilder<F, Names, Inner> {
    return this.#with({ entry: name });
  }

  /** Adds middleware around every node of this graph, outermost first; not around the nodes of its subgraphs. */
  use(...middleware: readonly Middleware<F>[]): GraphBuilder<F, Names, Inner> {
    return this.#with({ middleware: [...this.#definition.middleware, ...untyped(middleware)] });
  }

  /** Returns the graph, ready to run. Throws a {@link GraphCompileError} for a graph that cannot run, and `invalid_argument`. */
  compile(options: CompileOptions<F> = {}): CompiledGraph<F, Inner> {
    return compileGraph(this.#definition, options);
  }
}

/** Begins a graph over the state that `defineState` made. */
export const defineGraph = <F extends Fields>(state: StateSchema<F>): GraphBuilder<F> =>
  new GraphBuilder({
    state: state as unknown as StateSchema,
    nodes: [],
    edges: [],
    entry: undefined,
    middleware: [],
  });
