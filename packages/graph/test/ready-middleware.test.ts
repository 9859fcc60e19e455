import { createDeferred, InvalidArgumentError } from "@harnesskit/wire";
import { createManualClock } from "@harnesskit/wire/testing";
import { describe, expect, it } from "vitest";
import {
  defineGraph,
  END,
  errorCategory,
  isolate,
  type Middleware,
  type NodeBody,
  retry,
  timeout,
} from "../src/index.ts";
import { failure, line, logs, recorder, state, type TestFields } from "./support/graphs.ts";

type Body = NodeBody<TestFields>;

/** A graph with one node in this middleware. */
const around = (body: Body, ...middleware: readonly Middleware<TestFields>[]) =>
  defineGraph(state)
    .node("work", body as () => object, { middleware })
    .entry("work")
    .edge("work", END)
    .compile();

const category = (name: string) => Object.assign(new TypeError(name), { category: name });

/** A clock whose waits are over at once, and how long each was. */
const instant = () => {
  const waits: number[] = [];
  const clock = {
    now: () => 0,
    elapsedMs: () => 0,
    after(delayMs: number, callback: () => void) {
      waits.push(delayMs);
      const timer = setImmediate(callback);
      return () => clearImmediate(timer);
    },
  };
  return { waits, clock };
};

const steady = { initialDelayMs: 100, maxDelayMs: 250, random: () => 1 };

describe("retry (pipeline-utilities §6.1)", () => {
  it("calls a node again until it does not fail, each wait twice as long up to the longest", async () => {
    const { waits, clock } = instant();
    const told = recorder();
    const graph = around(
      (_, { attemptIndex }) => {
        if (attemptIndex < 4) throw category("provider_unavailable");
        return { count: attemptIndex };
      },
      retry({ maxAttempts: 5, ...steady, clock }),
    );
    const { state: final } = await graph.invoke({ observers: [told.observe] });
    await graph.drain();
    expect([final.count, waits]).toEqual([4, [100, 200, 250, 250]]);
    expect(
      told.events
        .filter(({ phase }) => phase === "completed")
        .map((event) => [event.attempt_index, event.error?.category]),
    ).toEqual([
      [0, "node_exception"],
      [1, "node_exception"],
      [2, "node_exception"],
      [3, "node_exception"],
      [4, undefined],
    ]);
  });

  it("fails with the last error, after as many attempts as it may make", async () => {
    const { waits, clock } = instant();
    let calls = 0;
    const graph = around(
      () => {
        throw new TypeError(`call ${++calls}`);
      },
      retry({ clock, ...steady }),
    );
    expect(await failure(graph.invoke())).toMatchObject({ message: "work: call 3", code: "node_exception" });
    expect([calls, waits]).toEqual([3, [100, 200]]);
  });

  it.each([
    ["that no second attempt can help", () => category("provider_authentication"), {}],
    ["that retryOn does not want", () => new TypeError("no"), { retryOn: () => false }],
    ["in its only attempt", () => new TypeError("no"), { maxAttempts: 1 }],
  ])("does not try again after an error %s", async (_, make, options) => {
    let calls = 0;
    const graph = around(
      () => {
        calls++;
        throw make();
      },
      retry({ ...options, ...instant() }),
    );
    await failure(graph.invoke());
    expect(calls).toBe(1);
  });

  it("ends its wait when the invocation is cancelled", async () => {
    const controller = new AbortController();
    const clock = createManualClock();
    const failed = createDeferred<void>();
    let calls = 0;
    const graph = around(() => {
      calls++;
      setImmediate(failed.resolve);
      throw new TypeError("no");
    }, retry({ clock }));
    const run = failure(graph.invoke({ signal: controller.signal }));
    await failed.promise;
    controller.abort("enough");
    expect([errorCategory(await run), calls]).toEqual(["invocation_cancelled", 1]);
  });

  it("refuses options that cannot be used", () => {
    for (const options of [{ maxAttempts: 0 }, { maxAttempts: 1.5 }, { initialDelayMs: -1 }]) {
      expect(() => retry(options)).toThrow(InvalidArgumentError);
    }
  });
});

describe("timeout", () => {
  it("fails a node that does not end in time, aborts its signal, and drops what it does later", async () => {
    const clock = createManualClock();
    const begun = createDeferred<void>();
    const late = createDeferred<unknown>();
    const told = recorder();
    const graph = around(
      async (_, { signal, suspend }) => {
        begun.resolve();
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
        setImmediate(() => {
          try {
            suspend({ signal_id: "late" });
          } catch (error) {
            late.resolve([signal.reason, error]);
          }
        });
        return { log: ["late"] };
      },
      timeout({ timeoutMs: 500, clock }),
    );
    const run = failure(graph.invoke({ observers: [told.observe] }));
    await begun.promise;
    clock.advance(499);
    clock.advance(1);
    const error = await run;
    await graph.drain();
    expect([error.code, errorCategory(error), error.message]).toEqual([
      "node_exception",
      "node_timeout",
      "work: work did not end within 500 ms",
    ]);
    expect(told.events.map(({ phase, error: why }) => [phase, why?.category])).toEqual([
      ["started", undefined],
      ["completed", "node_exception"],
    ]);
    expect(await late.promise).toEqual([
      error.cause,
      expect.objectContaining({ code: "suspension_in_unsupported_context" }),
    ]);
  });

  it("does not wait for code that ignores its signal, in a subgraph and its branches either", async () => {
    const clock = createManualClock();
    const begun = createDeferred<void>();
    const hang = () => {
      begun.resolve();
      return new Promise<undefined>(() => {});
    };
    const inner = defineGraph(state)
      .parallel("both", {
        branches: { good: { graph: line({ g: logs("g") }) }, bad: { graph: line({ hang }) } },
      })
      .entry("both")
      .edge("both", END)
      .compile();
    const graph = defineGraph(state)
      .subgraph("sub", {
        graph: inner,
        middleware: [isolate({ fallback: { log: ["gave up"] } }), timeout({ timeoutMs: 5, clock })],
      })
      .entry("sub")
      .edge("sub", END)
      .compile();
    const told = recorder();
    const run = graph.invoke({ observers: [told.observe] });
    await begun.promise;
    clock.advance(5);
    expect((await run).state.log).toEqual(["gave up"]);
    await graph.drain();
    const open = told.events.filter(({ phase }) => phase === "started").length;
    expect(told.events.length - open).toBe(open);
  });

  it("refuses a time that cannot be used", () => {
    for (const timeoutMs of [0, -1, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(() => timeout({ timeoutMs })).toThrow(InvalidArgumentError);
    }
  });
});

describe("isolate (pipeline-utilities §6.3)", () => {
  const broken: Body = () => {
    throw category("provider_unavailable");
  };

  it("gives an update in place of a failure, and reports it", async () => {
    const reported: unknown[] = [];
    const told = recorder();
    const graph = around(
      broken,
      isolate({
        fallback: (error, { count }) => ({ log: [`${errorCategory(error)} at ${count}`] }),
        onError: (error, { nodeName }) => {
          reported.push([nodeName, errorCategory(error)]);
          throw new TypeError("a report that fails");
        },
      }),
    );
    const { state: final } = await graph.invoke({ initial: { count: 7 }, observers: [told.observe] });
    await graph.drain();
    expect(final.log).toEqual(["provider_unavailable at 7"]);
    expect(reported).toEqual([["work", "provider_unavailable"]]);
    expect(told.events.at(-1)).toMatchObject({ phase: "completed", post_state: final });
    expect(told.events.at(-1)).not.toHaveProperty("error");
  });

  it("lets errors pass that it does not take, and those of its fallback", async () => {
    const other = around(broken, isolate({ fallback: {}, isolateOn: () => false }));
    expect(errorCategory(await failure(other.invoke()))).toBe("provider_unavailable");
    const fallback = () => {
      throw new TypeError("no fallback");
    };
    expect((await failure(around(broken, isolate({ fallback })).invoke())).message).toBe("work: no fallback");
  });

  it("takes no suspension and no cancellation", async () => {
    const take = isolate<TestFields>({ fallback: { log: ["taken"] } });
    const paused = around((_, { suspend }) => suspend({ signal_id: "s" }), take);
    expect((await paused.invoke()).outcome).toBe("suspended");
    const controller = new AbortController();
    const cancelled = around((_, { signal }) => {
      controller.abort("enough");
      signal.throwIfAborted();
    }, take);
    expect(errorCategory(await failure(cancelled.invoke({ signal: controller.signal })))).toBe(
      "invocation_cancelled",
    );
    const outside = around(logs("a"), (_, next) => next().finally(() => {}), take);
    expect((await outside.invoke()).state.log).toEqual(["a"]);
  });

  it("composes: each attempt has its own time, and when none is left the fallback counts", async () => {
    const time = createManualClock();
    const { clock, waits } = instant();
    const told = recorder();
    let calls = 0;
    const graph = around(
      () => {
        calls++;
        setImmediate(() => time.advance(10));
        return new Promise<undefined>(() => {});
      },
      isolate({ fallback: { log: ["fallback"] } }),
      retry({ maxAttempts: 2, ...steady, clock }),
      timeout({ timeoutMs: 10, clock: time }),
    );
    const { state: final } = await graph.invoke({ observers: [told.observe] });
    await graph.drain();
    expect([final.log, calls, waits]).toEqual([["fallback"], 2, [100]]);
    expect(
      told.events.map((event) => [event.phase, event.attempt_index, errorCategory(event.error?.instance)]),
    ).toEqual([
      ["started", 0, null],
      ["completed", 0, "node_timeout"],
      ["started", 1, null],
      ["completed", 1, null],
    ]);
  });
});
