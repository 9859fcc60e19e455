import { HarnessError, InvalidArgumentError } from "@harnesskit/wire";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import {
  append,
  defineGraph,
  defineState,
  END,
  errorCategory,
  GraphError,
  lastWriteWins,
} from "../src/index.ts";
import { failure, line, logs, recorder, state } from "./support/graphs.ts";

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

class CategoryError extends HarnessError {
  readonly category: string;
  constructor(category: string, options?: { cause?: unknown }) {
    super(category, `it is ${category}`, options);
    this.category = category;
  }
}

describe("nodes and edges (graph-engine §2.2)", () => {
  it("run one after the other, each with the merged state, to END", async () => {
    const seen: unknown[] = [];
    const graph = defineGraph(state)
      .node("first", async (current) => {
        seen.push(current.count);
        await Promise.resolve();
        return { count: current.count + 1, log: ["first"] };
      })
      .node("second", (current) => {
        seen.push(current.count);
        return { count: current.count * 10, log: ["second"] };
      })
      .edge("second", END)
      .conditionalEdge("first", ({ count }) => {
        seen.push(`edge ${count}`);
        return count < 3 ? "first" : "second";
      })
      .entry("first")
      .compile();
    const outcome = await graph.invoke();
    expect(outcome).toMatchObject({
      outcome: "completed",
      state: { count: 30, log: ["first", "first", "first", "second"] },
    });
    expect(seen).toEqual([0, "edge 1", 1, "edge 2", 2, "edge 3", 3]);
  });

  it("END is no name", async () => {
    const graph = defineGraph(state)
      .node("END", logs("END"))
      .node("a", logs("a"))
      .entry("a")
      .edge("a", "END")
      .edge("END", END)
      .compile();
    expect((await graph.invoke()).state.log).toEqual(["a", "END"]);
  });

  it("are deterministic in branches and conditional edges, whatever ends first", async () => {
    const turns = (count: number) => async () => {
      for (let turn = 0; turn < count; turn++) await Promise.resolve();
    };
    const part = (name: string, delay: () => Promise<void>) =>
      line({
        [`${name}1`]: async ({ count }) => {
          await delay();
          return { log: [`${name}1`], count: count + 1 };
        },
        [`${name}2`]: ({ count }) => ({ log: [`${name}2 ${count}`] }),
      });
    const graphOf = (slow: () => Promise<void>, fast: () => Promise<void>) =>
      defineGraph(state)
        .node("late", logs("late"))
        .node("early", logs("early"))
        .parallel("both", {
          branches: { a: { graph: part("a", slow) }, b: { graph: part("b", fast) } },
        })
        .entry("both")
        .conditionalEdge("both", ({ log }) => (log[0] === "a1" ? "early" : "late"))
        .edge("early", "late")
        .edge("late", END);
    const run = async (slow: () => Promise<void>, fast: () => Promise<void>) => {
      const told = recorder();
      const graph = graphOf(slow, fast).compile();
      const ids = { invocationId: "i", correlationId: "c" };
      const { state: final } = await graph.invoke({ ...ids, observers: [told.observe] });
      await graph.drain();
      return { final, events: told.events };
    };
    const [first, again] = [await run(turns(9), turns(0)), await run(turns(9), turns(0))];
    expect(again).toEqual(first);
    expect(first.final).toEqual({
      log: ["a1", "a2 1", "b1", "b2 1", "early", "late"],
      count: 1,
      approved: null,
    });
    // The other branch ends first now: the state and what each branch is told are the same.
    const turned = await run(turns(0), turns(9));
    expect(turned.final).toEqual(first.final);
    const of = (events: typeof first.events, branch: string | undefined) =>
      events.filter(({ branch_name }) => branch_name === branch).map(({ step: _, ...event }) => event);
    for (const branch of ["a", "b", undefined]) {
      expect(of(turned.events, branch)).toEqual(of(first.events, branch));
    }
    expect(turned.events.map(({ node_name }) => node_name)).not.toEqual(
      first.events.map(({ node_name }) => node_name),
    );
  });

  it("stop at maxSteps", async () => {
    const graph = defineGraph(state)
      .node("a", () => {})
      .entry("a")
      .edge("a", "a")
      .compile({ limits: { maxSteps: 50 } });
    const error = await failure(graph.invoke());
    expect(errorCategory(error)).toBe("step_limit_reached");
  });

  it("stop when the caller gives up, and tell the running node", async () => {
    const controller = new AbortController();
    const graph = line({
      a: (_, { signal }) => {
        controller.abort("enough");
        expect(signal.aborted).toBe(true);
        return { log: ["a"] };
      },
      b: logs("b"),
    });
    const error = await failure(graph.invoke({ signal: controller.signal }));
    expect([error.code, error.cause]).toEqual(["invocation_cancelled", "enough"]);
    const early = await failure(graph.invoke({ signal: controller.signal }));
    expect(early.code).toBe("invocation_cancelled");
  });
});

describe("the state (graph-engine §2.1)", () => {
  it("is validated when it enters, after each update, and frozen", async () => {
    const graph = line({
      a: (current) => {
        expect(() => Object.assign(current, { count: 9 })).toThrow(TypeError);
        expect(() => (current.log as string[]).push("x")).toThrow(TypeError);
        expect(() => Object.assign(current.log, { 0: "x" })).toThrow(TypeError);
        expect(() => (current.log as string[]).sort()).toThrow(TypeError);
        return { count: 2 };
      },
      b: () => ({ count: "2" as never }),
    });
    const late = await failure(graph.invoke({ initial: { log: ["x", "y"] } }));
    expect(late).toMatchObject({
      code: "state_validation_error",
      node_name: "b",
      fields: ["count"],
      recoverable_state: { count: 2 },
    });
    const early = await failure(graph.invoke({ initial: { count: "1" as never } }));
    expect(early).toMatchObject({ code: "state_validation_error", fields: ["count"] });
    const defaults = defineGraph(defineState({ n: lastWriteWins(z.number(), { default: "none" as never }) }));
    const wrong = defaults
      .node("a", () => {})
      .entry("a")
      .edge("a", END)
      .compile();
    expect(await failure(wrong.invoke())).toMatchObject({ code: "state_validation_error", fields: ["n"] });
  });

  it("has no other fields, and no other values than its schemas take", async () => {
    const undeclared = line({ a: () => ({ other: 1 }) as never });
    expect(await failure(undeclared.invoke())).toMatchObject({
      code: "state_validation_error",
      fields: ["other"],
      node_name: "a",
    });
    const initial = line({ a: logs("a") }).invoke({ initial: { other: 1 } as never });
    expect(await failure(initial)).toMatchObject({ code: "state_validation_error", fields: ["other"] });
    for (const update of ["text", 7, [1]]) {
      const graph = line({ a: () => update as never });
      expect(await failure(graph.invoke())).toMatchObject({ code: "state_validation_error", node_name: "a" });
    }
    const items = line({ a: () => ({ log: ["ok", 7 as never] }) });
    expect(await failure(items.invoke())).toMatchObject({ code: "state_validation_error", fields: ["log"] });
  });

  it("refuses schemas that answer later or throw, and what contains itself", async () => {
    const later = z.string().refine(async () => true);
    const throwing = z.string().refine(() => {
      throw new TypeError("broken");
    });
    const circular: unknown[] = [];
    circular.push(circular);
    const values = { later: [later, "x"], throwing: [throwing, "x"], any: [z.unknown(), circular] } as const;
    for (const [schema, value] of Object.values(values)) {
      const graph = defineGraph(defineState({ x: append(schema as z.ZodType) }))
        .node("a", () => ({ x: [value] }))
        .entry("a")
        .edge("a", END)
        .compile();
      expect(await failure(graph.invoke())).toMatchObject({ code: "state_validation_error", fields: ["x"] });
    }
  });
});

describe("errors of a run (graph-engine §2.4)", () => {
  it("node_exception carries what was thrown and what the node got", async () => {
    for (const cause of [
      new TypeError("broken"),
      new CategoryError("provider_rate_limit"),
      "text",
      undefined,
    ]) {
      const graph = line({
        a: () => ({ count: 5 }),
        b: () => {
          throw cause;
        },
      });
      const error = await failure(graph.invoke());
      expect(error).toMatchObject({
        code: "node_exception",
        node_name: "b",
        namespace: ["b"],
        recoverable_state: { count: 5 },
      });
      expect(error.cause).toBe(cause);
    }
    const rejected = line({ a: () => Promise.reject(new TypeError("later")) });
    expect((await failure(rejected.invoke())).cause).toEqual(new TypeError("later"));
  });

  it("edge_exception and routing_error have the merged state", async () => {
    const make = (route: () => never) =>
      defineGraph(state)
        .node("a", () => ({ count: 5 }))
        .entry("a")
        .conditionalEdge("a", route)
        .compile();
    const cause = new TypeError("broken");
    const thrown = await failure(
      make(() => {
        throw cause;
      }).invoke(),
    );
    expect(thrown).toMatchObject({
      code: "edge_exception",
      cause,
      node_name: "a",
      recoverable_state: { count: 5 },
    });
    for (const target of ["nowhere", 7, undefined, Promise.resolve("a"), Symbol("END")]) {
      const error = await failure(make(() => target as never).invoke());
      expect(error).toMatchObject({ code: "routing_error", node_name: "a", recoverable_state: { count: 5 } });
    }
  });

  it("the category of an error is that of the outermost that does not only carry", () => {
    const inner = new CategoryError("provider_unavailable", { cause: new CategoryError("other") });
    const wrap = (cause: unknown) => new GraphError("node_exception", "x", { cause });
    expect(errorCategory(wrap(wrap(inner)))).toBe("provider_unavailable");
    expect(
      errorCategory(new GraphError("parallel_branches_branch_failed", "x", { cause: wrap(inner) })),
    ).toBe("provider_unavailable");
    expect(errorCategory(wrap({ category: "", cause: inner }))).toBe("provider_unavailable");
    expect(errorCategory(wrap(new TypeError("x", { cause: inner })))).toBe("provider_unavailable");
    expect(errorCategory(new GraphError("reducer_error", "x", { cause: inner }))).toBe("reducer_error");
    const circular = new TypeError("x");
    circular.cause = circular;
    for (const none of [wrap(new TypeError("x")), wrap(undefined), null, "text", circular])
      expect(errorCategory(none)).toBeNull();
  });
});

describe("identity (graph-engine §2.6)", () => {
  it("takes ids as they are supplied and makes UUIDs otherwise", async () => {
    let context: unknown;
    const graph = line({
      a: (_, given) => {
        context = { ...given };
      },
    });
    const given = await graph.invoke({
      invocationId: "my id",
      correlationId: "a-b_c.d~1",
      sessionId: "s",
      metadata: { k: 1 },
    });
    expect(given).toMatchObject({ invocation_id: "my id", correlation_id: "a-b_c.d~1", session_id: "s" });
    expect(context).toMatchObject({
      invocationId: "my id",
      correlationId: "a-b_c.d~1",
      sessionId: "s",
      metadata: { k: 1 },
      nodeName: "a",
      namespace: ["a"],
      attemptIndex: 0,
      isResumed: false,
    });
    const made = await graph.invoke();
    expect(made.invocation_id).toMatch(uuid);
    expect(made.correlation_id).toMatch(uuid);
    expect(made.session_id).toBeNull();
  });

  it("refuses ids that cannot be", async () => {
    const graph = line({ a: logs("a") });
    for (const options of [
      { correlationId: "" },
      { correlationId: "a b" },
      { correlationId: "a/b" },
      { correlationId: "ü" },
      { sessionId: "" },
      { invocationId: "" },
    ]) {
      await expect(graph.invoke(options)).rejects.toSatisfy(
        (error) => error instanceof InvalidArgumentError && error.code === "invalid_argument",
      );
    }
  });
});
