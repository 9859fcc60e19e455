import { InvalidArgumentError } from "@harnesskit/wire";
import { compileGraph } from "./compile/compile.ts";
import type { CompileOptions } from "./compile-options.ts";
import type { CompiledGraph } from "./compiled-graph.ts";
import type {
  AnyBody,
  AnyMiddleware,
  EdgeDefinition,
  GraphDefinition,
  NodeDefinition,
} from "./definition.ts";
import type { End } from "./end.ts";
import type { SignalPayload } from "./invoke-options.ts";
import type { FanOutOptions, NodeOptions, ParallelOptions, SubgraphOptions } from "./node-options.ts";
import type { Middleware, NodeContext, NodeResult } from "./run/context.ts";
import type { Fields, StateOf, StateSchema, UpdateOf } from "./state/schema.ts";

/** Nothing to object to, unless a body gives something that the state does not have. */
export type CheckExtra<Update, Given> = [Given] extends [never]
  ? unknown
  : Given extends object
    ? Exclude<keyof Given, keyof Update> extends never
      ? unknown
      : { readonly notInTheState: Exclude<keyof Given, keyof Update> }
    : unknown;

const untyped = <F extends Fields>(middleware: readonly Middleware<F>[] = []): readonly AnyMiddleware[] =>
  middleware as unknown as readonly AnyMiddleware[];

const plain = (value: object): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(value).filter(([, to]) => to !== undefined)) as Record<string, string>;

/**
 * Declares a graph, step by step; every step gives a new builder. `Names` are the nodes that are declared so far: an edge
 * names no other, so declare the nodes first. `Inner` are the payloads that signals may bring for subgraphs.
 */
export class GraphBuilder<F extends Fields, Names extends string = never, Inner = never> {
  readonly #definition: GraphDefinition<F>;

  /** @internal */
  constructor(definition: GraphDefinition<F>) {
    this.#definition = definition;
  }

  #with(change: Partial<GraphDefinition<F>>): GraphDefinition<F> {
    return { ...this.#definition, ...change };
  }

  #withNode<Name extends string, More = never>(
    node: NodeDefinition,
  ): GraphBuilder<F, Names | Name, Inner | More> {
    return new GraphBuilder(this.#with({ nodes: [...this.#definition.nodes, node] }));
  }

  #withEdge(edge: EdgeDefinition): GraphBuilder<F, Names, Inner> {
    return new GraphBuilder(this.#with({ edges: [...this.#definition.edges, edge] }));
  }

  /** A node that calls a function with the state and merges what it gives back. */
  node<const Name extends string, Out extends NodeResult<F> | PromiseLike<NodeResult<F>>>(
    name: Name,
    body: ((state: StateOf<F>, context: NodeContext<F>) => Out) & CheckExtra<UpdateOf<F>, Awaited<Out>>,
    options: NodeOptions<F> = {},
  ): GraphBuilder<F, Names | Name, Inner> {
    return this.#withNode<Name>({
      kind: "body",
      name,
      body: body as unknown as AnyBody,
      middleware: untyped(options.middleware),
    });
  }

  /** A node that runs another graph. It is transparent: only the nodes inside of it are told to observers. */
  subgraph<const Name extends string, Sub extends Fields, SubInner = never>(
    name: Name,
    { graph, middleware, ...projection }: SubgraphOptions<F, Sub, SubInner>,
  ): GraphBuilder<F, Names | Name, Inner | SignalPayload<Sub, SubInner>> {
    return this.#withNode<Name, SignalPayload<Sub, SubInner>>({
      kind: "subgraph",
      name,
      graph: graph as unknown as CompiledGraph,
      middleware: untyped(middleware),
      projection: {
        ...(projection.inputs === undefined ? {} : { inputs: plain(projection.inputs) }),
        ...(projection.outputs === undefined ? {} : { outputs: plain(projection.outputs) }),
        ...(projection.projectsIn === undefined ? {} : { projectsIn: projection.projectsIn }),
        ...(projection.projectsOut === undefined ? {} : { projectsOut: projection.projectsOut }),
      },
    });
  }

  /** A node that runs another graph once for each item of a list. Throws `invalid_argument` for a wrong concurrency. */
  fanOut<const Name extends string, Sub extends Fields>(
    name: Name,
    options: FanOutOptions<F, Sub>,
  ): GraphBuilder<F, Names | Name, Inner> {
    const { graph, middleware, concurrency = 10 } = options;
    if (!Number.isSafeInteger(concurrency) || concurrency < 1) {
      throw new InvalidArgumentError("concurrency is no integer of at least 1");
    }
    return this.#withNode<Name>({
      kind: "fan_out",
      name,
      middleware: untyped(middleware),
      fanOut: {
        graph: graph as unknown as CompiledGraph,
        itemsField: options.itemsField,
        itemField: options.itemField,
        collectField: options.collectField,
        targetField: options.targetField,
        inputs: plain(options.inputs ?? {}),
        concurrency,
        errorPolicy: options.errorPolicy ?? "fail_fast",
        errorsField: options.errorsField,
        onEmpty: options.onEmpty ?? "raise",
      },
    });
  }

  /** A node that runs several graphs at once. Throws `invalid_argument` without a branch. */
  parallel<const Name extends string, Branches extends Readonly<Record<string, Fields>>>(
    name: Name,
    options: ParallelOptions<F, Branches>,
  ): GraphBuilder<F, Names | Name, Inner> {
    const branches = Object.entries(options.branches).map(
      ([branch, { graph, inputs, outputs }]) =>
        [
          branch,
          {
            graph: graph as unknown as CompiledGraph,
            inputs: plain(inputs ?? {}),
            outputs: outputs === undefined ? undefined : plain(outputs),
          },
        ] as const,
    );
    if (branches.length === 0) throw new InvalidArgumentError(`${name} has no branch`);
    return this.#withNode<Name>({
      kind: "parallel",
      name,
      middleware: untyped(options.middleware),
      branches: new Map(branches),
      errorPolicy: options.errorPolicy ?? "fail_fast",
      errorsField: options.errorsField,
    });
  }

  /** Behind `from` comes `to`. */
  edge(from: Names, to: Names | End): GraphBuilder<F, Names, Inner> {
    return this.#withEdge({ from, to });
  }

  /** Behind `from` comes what `route` says of the state after it. `route` answers at once, and changes nothing. */
  conditionalEdge<To extends Names | End>(
    from: Names,
    route: (state: StateOf<F>) => To,
  ): GraphBuilder<F, Names, Inner> {
    return this.#withEdge({ from, to: route });
  }

  /** The node that a run begins with. */
  entry(name: Names): GraphBuilder<F, Names, Inner> {
    return new GraphBuilder(this.#with({ entry: name }));
  }

  /** What is put around every node of this graph, outermost first. Not around the nodes of its subgraphs. */
  use(...middleware: readonly Middleware<F>[]): GraphBuilder<F, Names, Inner> {
    return new GraphBuilder(
      this.#with({ middleware: [...this.#definition.middleware, ...untyped(middleware)] }),
    );
  }

  /** The graph, ready to run. Throws a {@link GraphCompileError}. */
  compile(options: CompileOptions<F> = {}): CompiledGraph<F, Inner> {
    return compileGraph(this.#definition, options);
  }
}

/** Begins a graph over a state. */
export const defineGraph = <F extends Fields>(state: StateSchema<F>): GraphBuilder<F> =>
  new GraphBuilder({ state, nodes: [], edges: [], entry: undefined, middleware: [] });
