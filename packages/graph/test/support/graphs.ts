import { expect } from "vitest";
import * as z from "zod";
import {
  append,
  type CompiledGraph,
  type CompileOptions,
  defineGraph,
  defineState,
  END,
  type Fields,
  GraphError,
  lastWriteWins,
  type NodeBody,
  type NodeEvent,
} from "../../src/index.ts";

/** What most tests of the engine work with. */
export const fields = {
  log: append(z.string()),
  count: lastWriteWins(z.number(), { default: 0 }),
  approved: lastWriteWins(z.boolean().nullable(), { default: null }),
};
export const state = defineState(fields);
export type TestFields = typeof fields;

type Body<F extends Fields> = NodeBody<F>;

/** A node that writes its name into the log. */
export const logs =
  (name: string): Body<TestFields> =>
  () => ({ log: [name] });

/** A graph whose nodes run one after the other. */
export const line = (
  nodes: Readonly<Record<string, Body<TestFields>>>,
  options: CompileOptions<TestFields> = {},
): CompiledGraph<TestFields> => {
  const names = Object.keys(nodes);
  let builder = defineGraph(state).node(names[0] as string, nodes[names[0] as string] as () => object);
  for (const name of names.slice(1)) builder = builder.node(name, nodes[name] as () => object);
  for (const [index, name] of names.entries()) builder = builder.edge(name, names[index + 1] ?? END);
  return builder.entry(names[0] as string).compile(options);
};

/** What an invocation fails with; fails the test where it does not. */
export const failure = async (run: Promise<unknown>): Promise<GraphError> => {
  const error = await run.then(
    (outcome) => expect.fail(`it gave ${JSON.stringify(outcome)}`),
    (thrown: unknown) => thrown,
  );
  expect(GraphError.isInstance(error), String(error)).toBe(true);
  return error as GraphError;
};

/** An observer that records its events. */
export const recorder = () => {
  const events: NodeEvent[] = [];
  return {
    events,
    observe: (event: NodeEvent) => {
      events.push(event);
    },
    /** Each event as `phase name`. */
    get lines(): string[] {
      return events.map((event) => `${event.phase} ${event.namespace.join("/")}`);
    },
  };
};
