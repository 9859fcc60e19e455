import type { CompiledGraph } from "./compiled-graph.ts";
import type { End } from "./end.ts";
import type { MiddlewareContext, NextOptions, NodeContext } from "./run/context.ts";
import type { Fields, StateSchema } from "./state/schema.ts";

export type ErrorPolicy = "fail_fast" | "collect";

/** What goes into a subgraph and comes out of it, by names; see {@link SubgraphOptions}. */
export interface ProjectionOptions {
  readonly inputs?: Readonly<Record<string, string>>;
  readonly outputs?: Readonly<Record<string, string>>;
  readonly projectsIn?: readonly string[];
  readonly projectsOut?: readonly string[];
}

/** A node's body, whatever its state. */
export type AnyBody = (state: object, context: NodeContext) => unknown;

/** Middleware, whatever its state. */
export type AnyMiddleware = (
  state: object,
  next: (state?: object, options?: NextOptions) => Promise<unknown>,
  context: MiddlewareContext,
) => unknown;

interface Common {
  readonly name: string;
  readonly middleware: readonly AnyMiddleware[];
}

export interface BodyNode extends Common {
  readonly kind: "body";
  readonly body: AnyBody;
}

export interface SubgraphNode extends Common {
  readonly kind: "subgraph";
  readonly graph: CompiledGraph;
  readonly projection: ProjectionOptions;
}

export interface FanOutSettings {
  readonly graph: CompiledGraph;
  readonly itemsField: string;
  readonly itemField: string;
  readonly collectField: string;
  readonly targetField: string;
  readonly inputs: Readonly<Record<string, string>>;
  readonly concurrency: number;
  readonly errorPolicy: ErrorPolicy;
  readonly errorsField: string | undefined;
  readonly onEmpty: "raise" | "noop";
}

export interface FanOutNode extends Common {
  readonly kind: "fan_out";
  readonly fanOut: FanOutSettings;
}

export interface BranchSettings {
  readonly graph: CompiledGraph;
  readonly inputs: Readonly<Record<string, string>>;
  readonly outputs: Readonly<Record<string, string>> | undefined;
}

export interface ParallelNode extends Common {
  readonly kind: "parallel";
  readonly branches: ReadonlyMap<string, BranchSettings>;
  readonly errorPolicy: ErrorPolicy;
  readonly errorsField: string | undefined;
}

export type NodeDefinition = BodyNode | SubgraphNode | FanOutNode | ParallelNode;

/** What follows a node: always the same, or what a function says of the state behind it. */
export interface EdgeDefinition {
  readonly from: string;
  readonly to: string | End | ((state: never) => string | End);
}

/** A graph as it was declared. */
export interface GraphDefinition<F extends Fields = Fields> {
  readonly state: StateSchema<F>;
  readonly nodes: readonly NodeDefinition[];
  readonly edges: readonly EdgeDefinition[];
  readonly entry: string | undefined;
  readonly middleware: readonly AnyMiddleware[];
}
