import { SuspensionRecordSchema } from "@harnesskit/protocol/chat";
import { createDeferred, InvalidArgumentError } from "@harnesskit/wire";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import {
  createMemoryStore,
  defineGraph,
  defineState,
  END,
  type GraphStore,
  isSuspension,
  lastWriteWins,
  type Middleware,
  type NodeBody,
} from "../src/index.ts";
import type { SuspendOptions } from "../src/run/context.ts";
import { failure, line, logs, recorder, state, type TestFields } from "./support/graphs.ts";

type Body = NodeBody<TestFields>;

const gate =
  (options?: SuspendOptions, id = "approve"): Body =>
  (_, { suspend }) =>
    suspend({ signal_id: id, metadata: { kind: "approval" } }, options);

const gated = (store?: GraphStore, options?: SuspendOptions) =>
  line(
    { ask: logs("ask"), gate: gate(options), act: ({ approved }) => ({ log: [`act ${approved}`] }) },
    store === undefined ? {} : { store },
  );

const plain = (value: unknown) => JSON.parse(JSON.stringify(value));

describe("suspend (suspension §3)", () => {
  it("pauses, keeps a record and gives an outcome", async () => {
    const store = createMemoryStore();
    const told = recorder();
    const graph = line({ ask: logs("ask"), gate: gate(), act: logs("act") }, { store });
    const outcome = await graph.invoke({ invocationId: "i", correlationId: "c", observers: [told.observe] });
    await graph.drain();
    const descriptor = { signal_id: "approve", metadata: { kind: "approval" } };
    expect(outcome).toMatchObject({
      outcome: "suspended",
      invocation_id: "i",
      correlation_id: "c",
      session_id: null,
      state: { log: ["ask"], count: 0, approved: null },
      descriptor,
      node_name: "gate",
      namespace: ["gate"],
    });
    expect(told.lines).toEqual(["started ask", "completed ask", "started gate", "suspended gate"]);
    expect(told.events[3]).toMatchObject({ descriptor, step: 1, pre_state: { log: ["ask"] } });
    expect(told.events[3]).not.toHaveProperty("post_state");
    const record = await store.suspensions.load("i");
    expect(SuspensionRecordSchema.parse(plain(record))).toMatchObject({
      status: "suspended",
      descriptor,
      node_name: "gate",
      namespace: ["gate"],
      mark_node_completed: true,
      completed_positions: [
        { namespace: ["ask"], step: 0 },
        { namespace: ["gate"], step: 1 },
      ],
      next_step: 2,
      frames: [{ node: "gate", state: { log: ["ask"], count: 0, approved: null }, session_lists: {} }],
    });
  });

  it("is resumed by another process, from what JSON has kept", async () => {
    const first = createMemoryStore();
    const paused = await gated(first).invoke();
    const record = plain(await first.suspensions.load(paused.invocation_id));
    const second = createMemoryStore();
    const { revision: _, updated_at: __, ...kept } = record;
    await second.suspensions.save({ kind: "put", record: kept });
    const resumed = await gated(second).invoke({
      resumeInvocation: paused.invocation_id,
      signalPayload: { approved: false },
    });
    expect(resumed.state.log).toEqual(["ask", "act false"]);
  });

  it("without mark_node_completed runs the same body again, which may suspend again", async () => {
    const store = createMemoryStore();
    const told = recorder();
    const seen: unknown[] = [];
    const graph = line(
      {
        ask: logs("ask"),
        gate: ({ approved, count }, { suspend, attemptIndex, isResumed }) => {
          seen.push([count, attemptIndex, isResumed]);
          if (approved !== true) suspend({ signal_id: `try ${count}` }, { markNodeCompleted: false });
          return { log: ["gate"] };
        },
      },
      { store },
    );
    const first = await graph.invoke({ observers: [told.observe] });
    const id = first.invocation_id;
    const resume = (signalPayload: Record<string, never>) =>
      graph.invoke({ resumeInvocation: id, signalPayload, observers: [told.observe] });
    const second = await resume({ count: 1 } as never);
    expect(second).toMatchObject({
      outcome: "suspended",
      invocation_id: id,
      descriptor: { signal_id: "try 1" },
      state: { count: 1 },
    });
    expect(await store.suspensions.list()).toMatchObject([
      { invocation_id: id, status: "suspended", descriptor: { signal_id: "try 1" } },
    ]);
    const third = await resume({ approved: true, count: 2 } as never);
    await graph.drain();
    expect(third).toMatchObject({ outcome: "completed", invocation_id: id, state: { log: ["ask", "gate"] } });
    expect(seen).toEqual([
      [0, 0, false],
      [1, 0, true],
      [2, 0, true],
    ]);
    expect(told.lines.slice(2)).toEqual([
      "started gate",
      "suspended gate",
      "started gate",
      "suspended gate",
      "started gate",
      "completed gate",
    ]);
    expect(told.events.every((event) => event.attempt_index === 0)).toBe(true);
  });

  it("cannot be swallowed by the body", async () => {
    const bodies: Record<string, Body> = {
      catches: async (_, { suspend }) => {
        try {
          suspend({ signal_id: "s" });
        } catch (error) {
          expect(isSuspension(error)).toBe(true);
          return { log: ["swallowed"] };
        }
      },
      "throws another": (_, { suspend }) => {
        try {
          suspend({ signal_id: "s" });
        } catch {
          throw new TypeError("other");
        }
      },
      hangs: async (_, { suspend }) => {
        try {
          suspend({ signal_id: "s" });
        } catch {
          await new Promise(() => {});
        }
      },
      "suspends again": (_, { suspend }) => {
        try {
          suspend({ signal_id: "s" });
        } catch {
          return suspend({ signal_id: "another" });
        }
      },
      "suspends beside": async (_, { suspend }) => {
        await Promise.allSettled([
          Promise.resolve().then(() => suspend({ signal_id: "s" })),
          Promise.resolve(),
        ]);
        return { log: ["swallowed"] };
      },
    };
    for (const [name, body] of Object.entries(bodies)) {
      const outcome = await line({ [name]: body }).invoke();
      expect([name, outcome.outcome, outcome.state.log]).toEqual([name, "suspended", []]);
      expect(outcome).toMatchObject({ descriptor: { signal_id: "s" } });
    }
  });

  it("cannot be swallowed, tried again or isolated by middleware, and what is behind next does not run", async () => {
    const log: string[] = [];
    const layers: Record<string, Middleware<TestFields>> = {
      plain: async (current, next) => {
        log.push("before");
        const update = await next(current);
        log.push("after");
        return update;
      },
      retry: async (current, next) => {
        for (let attempt = 0; ; attempt++) {
          try {
            return await next(current);
          } catch (error) {
            if (attempt === 3) throw error;
          }
        }
      },
      isolate: async (current, next) => next(current).catch(() => ({ log: ["isolated"] })),
      hang: async (current, next) => next(current).catch(() => new Promise<never>(() => {})),
    };
    for (const [name, layer] of Object.entries(layers)) {
      let bodies = 0;
      const told = recorder();
      const body: Body = (_, { suspend }) => {
        bodies++;
        suspend({ signal_id: "s" });
      };
      const graph = defineGraph(state)
        .use(layer)
        .node("gate", body as () => never, { middleware: [layer] })
        .entry("gate")
        .edge("gate", END)
        .compile();
      const outcome = await graph.invoke({ observers: [told.observe] });
      await graph.drain();
      expect([name, outcome.outcome, outcome.state.log, bodies, told.lines]).toEqual([
        name,
        "suspended",
        [],
        1,
        ["started gate", "suspended gate"],
      ]);
    }
    expect(log).toEqual(["before", "before"]);
  });

  it("is refused without a signal id, and with what is no JSON", async () => {
    for (const descriptor of [
      { signal_id: "" },
      {},
      null,
      { signal_id: 7 },
      { signal_id: "s", metadata: [] },
      { signal_id: "s", metadata: { x: () => {} } },
      { signal_id: "s", metadata: { x: new Date() } },
    ]) {
      const error = await failure(line({ a: (_, { suspend }) => suspend(descriptor as never) }).invoke());
      expect(error.code).toBe("node_exception");
      expect(error.cause).toBeInstanceOf(InvalidArgumentError);
    }
  });

  it("is refused where errors are collected and after the body, also when it is caught", async () => {
    const swallowing: Body = (_, { suspend }) => {
      try {
        suspend({ signal_id: "s" });
      } catch {
        return { log: ["swallowed"] };
      }
    };
    for (const body of [gate(), swallowing]) {
      const inner = line({ in: body });
      const shape = defineState({
        items: lastWriteWins(z.array(z.number()), { default: [1, 2] }),
        out: lastWriteWins(z.unknown(), { default: null }),
      });
      const fan = defineGraph(shape)
        .fanOut("fan", {
          graph: inner,
          itemsField: "items",
          itemField: "count",
          collectField: "log",
          targetField: "out",
          errorPolicy: "collect",
        })
        .entry("fan")
        .edge("fan", END)
        .compile();
      const nested = defineGraph(state)
        .subgraph("sub", { graph: inner })
        .entry("sub")
        .edge("sub", END)
        .compile();
      const branches = defineGraph(state)
        .parallel("p", { branches: { a: { graph: nested } }, errorPolicy: "collect" })
        .entry("p")
        .edge("p", END)
        .compile();
      for (const graph of [fan, branches]) {
        expect(await failure(graph.invoke())).toMatchObject({
          code: "suspension_in_unsupported_context",
          category: "suspension_in_unsupported_context",
          node_name: "in",
        });
      }
    }
    let late: (() => never) | undefined;
    const escaped = line({
      a: (_, { suspend }) => {
        late = () => suspend({ signal_id: "s" });
      },
      b: () => {
        expect(() => late?.()).toThrow(
          expect.objectContaining({ code: "suspension_in_unsupported_context" }),
        );
      },
    });
    expect((await escaped.invoke()).outcome).toBe("completed");
  });
});

describe("resume (suspension §7)", () => {
  it("evaluates the edge of the suspending node on the merged state", async () => {
    const graph = defineGraph(state)
      .node("gate", gate() as () => never)
      .node("yes", logs("yes"))
      .node("no", logs("no"))
      .entry("gate")
      .conditionalEdge("gate", ({ approved }) =>
        approved === true ? "yes" : approved === false ? "no" : END,
      )
      .edge("yes", END)
      .edge("no", END)
      .compile();
    for (const [approved, log] of [
      [true, ["yes"]],
      [false, ["no"]],
      [null, []],
    ] as const) {
      const { invocation_id: resumeInvocation } = await graph.invoke();
      expect(await graph.invoke({ resumeInvocation, signalPayload: { approved } })).toMatchObject({
        outcome: "completed",
        state: { log },
      });
    }
  });

  it("puts the payload over the state without reducers, and begins with nothing else", async () => {
    const graph = gated();
    const first = await graph.invoke({ initial: { count: 3 } });
    const replaced = await graph.invoke({
      resumeInvocation: first.invocation_id,
      signalPayload: { log: ["replaced"] },
      initial: { count: 9 },
    } as never);
    expect(replaced.state).toEqual({ log: ["replaced", "act null"], count: 3, approved: null });
    expect(replaced.entry_state).toEqual({ log: ["replaced"], count: 3, approved: null });
    const second = await graph.invoke();
    expect(
      (await graph.invoke({ resumeInvocation: second.invocation_id, signalPayload: {} })).state.log,
    ).toEqual(["ask", "act null"]);
  });

  it("refuses a payload that does not fit, and can be tried again", async () => {
    const store = createMemoryStore();
    const graph = gated(store);
    const { invocation_id: resumeInvocation } = await graph.invoke();
    const before = await store.suspensions.load(resumeInvocation);
    for (const signalPayload of [{ approved: "yes" }, { log: "x" }, { log: [1] }, [], "text", 7, null]) {
      expect(
        await failure(graph.invoke({ resumeInvocation, signalPayload: signalPayload as never })),
      ).toMatchObject({ code: "suspension_resume_payload_invalid" });
    }
    expect(await store.suspensions.load(resumeInvocation)).toEqual(before);
    expect((await graph.invoke({ resumeInvocation, signalPayload: { approved: true } })).outcome).toBe(
      "completed",
    );
  });

  it("refuses a field that no paused graph declares, names it, and can be tried again", async () => {
    const graph = gated();
    const { invocation_id: resumeInvocation } = await graph.invoke();
    const payload = { approved: true, aproved: true };
    expect(await failure(graph.invoke({ resumeInvocation, signalPayload: payload as never }))).toMatchObject({
      code: "suspension_resume_payload_invalid",
      fields: ["aproved"],
      message: "the payload has a field aproved, which no paused graph declares",
    });
    const { state: final } = await graph.invoke({ resumeInvocation, signalPayload: { approved: true } });
    expect(final.log).toEqual(["ask", "act true"]);
  });

  it("of what is unknown, has ended, has failed or was deleted is suspension_record_invalid", async () => {
    const store = createMemoryStore();
    const graph = line(
      {
        gate: gate(),
        act: ({ approved }) => {
          if (approved === false) throw new TypeError("broken");
        },
      },
      { store },
    );
    const resume = (id: string, approved = true) =>
      graph.invoke({ resumeInvocation: id, signalPayload: { approved } });
    const invalid = async (id: string) => {
      const error = await failure(resume(id));
      expect(error.code).toBe("suspension_record_invalid");
      return error.data.reason;
    };
    expect(await invalid("unknown")).toBe("unknown");
    const [done, failed, gone] = [await graph.invoke(), await graph.invoke(), await graph.invoke()];
    await resume(done.invocation_id);
    expect(await invalid(done.invocation_id)).toBe("already_resumed");
    expect((await failure(resume(failed.invocation_id, false))).code).toBe("node_exception");
    expect(await invalid(failed.invocation_id)).toBe("already_resumed");
    expect(await store.suspensions.list()).toMatchObject([
      { status: "completed" },
      { status: "errored" },
      { status: "suspended" },
    ]);
    await store.suspensions.delete(gone.invocation_id);
    expect(await invalid(gone.invocation_id)).toBe("unknown");
    for (const options of [{ resumeInvocation: "", signalPayload: {} }, { resumeInvocation: "x" }]) {
      await expect(graph.invoke(options as never)).rejects.toBeInstanceOf(InvalidArgumentError);
    }
  });

  it("a hundred times at once runs once", async () => {
    let runs = 0;
    const release = createDeferred<void>();
    const graph = line({
      gate: gate(),
      act: async () => {
        runs++;
        await release.promise;
      },
    });
    const { invocation_id: resumeInvocation } = await graph.invoke();
    const all = Array.from({ length: 100 }, () =>
      graph.invoke({ resumeInvocation, signalPayload: { approved: true } }),
    );
    const settled = Promise.allSettled(all);
    await expect.poll(() => runs).toBe(1);
    release.resolve();
    const outcomes = await settled;
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    const reasons = outcomes.flatMap((entry) =>
      entry.status === "rejected" ? [[entry.reason.code, entry.reason.data.reason]] : [],
    );
    expect(reasons).toEqual(Array.from({ length: 99 }, () => ["suspension_record_invalid", "being_resumed"]));
    expect(runs).toBe(1);
  });

  it("that is cancelled may be tried again", async () => {
    const graph = gated();
    const { invocation_id: resumeInvocation } = await graph.invoke();
    const cancelled = graph.invoke({ resumeInvocation, signalPayload: {}, signal: AbortSignal.abort() });
    expect((await failure(cancelled)).code).toBe("invocation_cancelled");
    expect((await graph.invoke({ resumeInvocation, signalPayload: {} })).outcome).toBe("completed");
  });

  it("by a graph that has changed is suspension_record_invalid", async () => {
    const store = createMemoryStore();
    const { invocation_id: resumeInvocation } = await gated(store).invoke();
    const other = line({ other: logs("other") }, { store });
    expect(await failure(other.invoke({ resumeInvocation, signalPayload: {} }))).toMatchObject({
      code: "suspension_record_invalid",
      data: { reason: "graph_changed" },
    });
    const sub = defineGraph(state)
      .subgraph("gate", { graph: other })
      .entry("gate")
      .edge("gate", END)
      .compile({ store });
    expect(await failure(sub.invoke({ resumeInvocation, signalPayload: {} }))).toMatchObject({
      data: { reason: "graph_changed" },
    });
    const strict = defineGraph(defineState({ log: lastWriteWins(z.literal("x"), { default: "x" }) }))
      .node("gate", () => {})
      .entry("gate")
      .edge("gate", END)
      .compile({ store });
    expect(await failure(strict.invoke({ resumeInvocation, signalPayload: {} }))).toMatchObject({
      data: { reason: "state_invalid" },
    });
    expect((await gated(store).invoke({ resumeInvocation, signalPayload: {} })).outcome).toBe("completed");
  });

  it("keeps what settle says, to be delivered, in the same write", async () => {
    const store = createMemoryStore();
    const graph = line(
      {
        gate: gate(),
        again: gate({}, "again"),
        act: ({ approved }) => {
          if (approved === false) throw new TypeError("broken");
        },
      },
      { store },
    );
    const settle = (end: { outcome: string }) => ({ ended: end.outcome });
    const outcomes = [];
    for (const approved of [true, false]) {
      const { invocation_id: resumeInvocation } = await graph.invoke({ settle });
      outcomes.push(await store.suspensions.load(resumeInvocation));
      await graph.invoke({ resumeInvocation, signalPayload: {}, settle });
      await graph.invoke({ resumeInvocation, signalPayload: { approved }, settle }).catch(() => {});
      outcomes.push(await store.suspensions.load(resumeInvocation));
    }
    expect(outcomes.map((record) => [record?.status, record?.result, record?.is_delivered])).toEqual([
      ["suspended", { ended: "suspended" }, true],
      ["completed", { ended: "completed" }, false],
      ["suspended", { ended: "suspended" }, true],
      ["errored", { ended: "errored" }, false],
    ]);
  });
});

describe("suspensions in compositions (suspension §8)", () => {
  const inner = (options?: SuspendOptions) =>
    line({ pre: logs("pre"), gate: gate(options), post: ({ approved }) => ({ log: [`post ${approved}`] }) });

  it("in a subgraph pause the whole, and go on inside of it", async () => {
    for (const markNodeCompleted of [true, false]) {
      const ran: string[] = [];
      const mid = defineGraph(state)
        .node("m", () => void ran.push("m"))
        .subgraph("deep", { graph: inner({ markNodeCompleted }), outputs: { log: "log" } })
        .entry("m")
        .edge("m", "deep")
        .edge("deep", END)
        .compile();
      const graph = defineGraph(state)
        .node("a", logs("a"))
        .subgraph("mid", { graph: mid })
        .node("z", logs("z"))
        .entry("a")
        .edge("a", "mid")
        .edge("mid", "z")
        .edge("z", END)
        .compile();
      const paused = await graph.invoke();
      expect(paused).toMatchObject({
        outcome: "suspended",
        node_name: "mid",
        namespace: ["mid", "deep", "gate"],
        state: { log: ["a"] },
      });
      const told = recorder();
      const resume = (approved: boolean) =>
        graph.invoke({
          resumeInvocation: paused.invocation_id,
          signalPayload: { approved },
          observers: [told.observe],
        });
      if (!markNodeCompleted) {
        expect(await resume(true)).toMatchObject({
          outcome: "suspended",
          namespace: ["mid", "deep", "gate"],
        });
        continue;
      }
      expect(await resume(true)).toMatchObject({
        outcome: "completed",
        state: { log: ["a", "pre", "post true", "z"] },
      });
      await graph.drain();
      expect(told.lines).toEqual([
        "started mid/deep/post",
        "completed mid/deep/post",
        "started z",
        "completed z",
      ]);
      expect(ran).toEqual(["m"]);
    }
  });

  const shape = defineState({
    items: lastWriteWins(z.array(z.number()), { default: [0, 1, 2] }),
    results: lastWriteWins(z.unknown(), { default: "nothing" }),
  });
  const fanOf = (options: SuspendOptions, runs: string[]) => {
    const work = line({
      work: async ({ count }, { suspend, signal }) => {
        runs.push(`work ${count}`);
        if (count === 1 && runs.length <= 3) suspend({ signal_id: "s", metadata: { own: true } }, options);
        if (runs.length <= 3)
          await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
        return { count: count * 10 };
      },
    });
    return defineGraph(shape)
      .fanOut("fan", {
        graph: work,
        itemsField: "items",
        itemField: "count",
        collectField: "count",
        targetField: "results",
      })
      .node("next", () => void runs.push("next"))
      .entry("fan")
      .edge("fan", "next")
      .edge("next", END)
      .compile();
  };

  it("in a fan-out pause at its node, and go on behind it or begin it again", async () => {
    for (const [markNodeCompleted, results, rest] of [
      [true, "nothing", ["next"]],
      [false, [0, 10, 20], ["work 0", "work 1", "work 2", "next"]],
    ] as const) {
      const runs: string[] = [];
      const told = recorder();
      const graph = fanOf({ markNodeCompleted }, runs);
      const paused = await graph.invoke({ observers: [told.observe] });
      await graph.drain();
      expect(paused).toMatchObject({
        outcome: "suspended",
        node_name: "fan",
        namespace: ["fan", "work"],
        descriptor: { metadata: { own: true, fan_out_index: 1 } },
        state: { results: "nothing" },
      });
      expect(told.lines.filter((text) => text.startsWith("suspended"))).toEqual([
        "suspended fan/work",
        "suspended fan",
      ]);
      expect(told.lines.filter((text) => text.startsWith("completed"))).toEqual([
        "completed fan/work",
        "completed fan/work",
      ]);
      const resumed = await graph.invoke({ resumeInvocation: paused.invocation_id, signalPayload: {} });
      expect(resumed).toMatchObject({ outcome: "completed", state: { results } });
      expect(runs.slice(3)).toEqual(rest);
    }
  });

  it("in a branch pause at the node, with its name", async () => {
    const graph = defineGraph(state)
      .parallel("p", { branches: { asks: { graph: inner() }, waits: { graph: line({ w: logs("w") }) } } })
      .node("next", logs("next"))
      .entry("p")
      .edge("p", "next")
      .edge("next", END)
      .compile();
    const paused = await graph.invoke();
    expect(paused).toMatchObject({
      outcome: "suspended",
      node_name: "p",
      namespace: ["p", "gate"],
      descriptor: { metadata: { kind: "approval", branch_name: "asks" } },
    });
    expect(
      (await graph.invoke({ resumeInvocation: paused.invocation_id, signalPayload: {} })).state.log,
    ).toEqual(["next"]);
  });

  it("of two instances at once are one", async () => {
    const work = line({ work: gate() });
    const graph = defineGraph(shape)
      .fanOut("fan", {
        graph: work,
        itemsField: "items",
        itemField: "count",
        collectField: "count",
        targetField: "results",
      })
      .entry("fan")
      .edge("fan", END)
      .compile();
    const told = recorder();
    expect(await graph.invoke({ observers: [told.observe] })).toMatchObject({
      outcome: "suspended",
      descriptor: { metadata: { fan_out_index: 0 } },
    });
    await graph.drain();
    expect(told.lines.filter((text) => !text.startsWith("started"))).toHaveLength(4);
    expect(told.lines.filter((text) => text.startsWith("suspended"))).toEqual([
      "suspended fan/work",
      "suspended fan",
    ]);
  });
});

it("a signal without an invocation is refused, and begins none", async () => {
  const told = recorder();
  const options = { signalPayload: { approved: true }, observers: [told.observe] };
  const refused = expect.objectContaining({
    code: "invalid_argument",
    message: expect.stringContaining("resumeInvocation"),
  });
  await expect(gated().invoke(options as never)).rejects.toEqual(refused);
  expect(told.lines).toEqual([]);
});

describe("suspensions and sessions (suspension §8.4)", () => {
  it("are saved together, and the record does not repeat the lists of the session", async () => {
    const store = createMemoryStore();
    const graph = gated(store);
    const paused = await graph.invoke({ sessionId: "s", initial: { log: ["hello"] } });
    expect(plain((await store.sessions.load("s"))?.state)).toEqual({
      log: ["hello", "ask"],
      count: 0,
      approved: null,
    });
    expect(plain(await store.suspensions.load(paused.invocation_id))).toMatchObject({
      session_id: "s",
      is_session_saved: true,
      frames: [
        { state: { count: 0, approved: null }, session_lists: { log: { session_field: "log", length: 2 } } },
      ],
    });
    const resumed = await graph.invoke({
      resumeInvocation: paused.invocation_id,
      signalPayload: { approved: true },
    });
    expect(resumed).toMatchObject({ session_id: "s", state: { log: ["hello", "ask", "act true"] } });
    expect(plain((await store.sessions.load("s"))?.state)).toEqual(resumed.state);
  });

  it("lose nothing of what a session got between a pause and its resume", async () => {
    const store = createMemoryStore();
    const graph = gated(store);
    const talk = line({ talk: ({ count }) => ({ log: ["talk"], count: count + 1 }) }, { store });
    const paused = await graph.invoke({ sessionId: "s", initial: { log: ["hello"] } });
    await talk.invoke({ sessionId: "s", initial: { log: ["in between"] } });
    const resumed = await graph.invoke({
      resumeInvocation: paused.invocation_id,
      signalPayload: { approved: true },
    });
    expect(resumed.entry_state.log).toEqual(["hello", "ask", "in between", "talk"]);
    expect(resumed.state).toEqual({
      log: ["hello", "ask", "in between", "talk", "act true"],
      count: 0,
      approved: true,
    });
    expect(plain((await store.sessions.load("s"))?.state)).toEqual({ ...resumed.state, count: 1 });
  });

  it("are not saved where saving was switched off; then the record has everything", async () => {
    const store = createMemoryStore();
    const graph = line(
      { ask: logs("ask"), gate: gate(), act: logs("act") },
      { store, session: { autoSave: false } },
    );
    const paused = await graph.invoke({ sessionId: "s" });
    expect(await store.sessions.load("s")).toBeNull();
    expect(plain(await store.suspensions.load(paused.invocation_id))).toMatchObject({
      is_session_saved: false,
      frames: [{ state: { log: ["ask"] } }],
    });
    expect(
      (await graph.invoke({ resumeInvocation: paused.invocation_id, signalPayload: {} })).state.log,
    ).toEqual(["ask", "act"]);
  });

  it("are neither visible where one of them cannot be written", async () => {
    const told = recorder();
    const store = createMemoryStore({ limits: { maxSuspensions: 1 } });
    const graph = gated(store);
    await graph.invoke({ invocationId: "first", sessionId: "other" });
    const error = await failure(
      graph.invoke({ invocationId: "second", sessionId: "s", observers: [told.observe] }),
    );
    await graph.drain();
    expect(error).toMatchObject({ code: "suspension_persistence_failed", cause: { code: "store_full" } });
    expect([await store.sessions.load("s"), await store.suspensions.load("second")]).toEqual([null, null]);
    expect(told.events.at(-1)).toMatchObject({
      phase: "completed",
      node_name: "gate",
      error: { category: "suspension_persistence_failed" },
    });
    const again = await failure(graph.invoke({ invocationId: "first", sessionId: "s" }));
    expect(again).toMatchObject({
      code: "suspension_persistence_failed",
      cause: { code: "suspension_conflict" },
    });
    const date = defineGraph(defineState({ x: lastWriteWins(z.unknown(), { default: null }) }))
      .node("a", () => ({ x: new Date() }))
      .node("gate", (_, { suspend }) => suspend({ signal_id: "s" }))
      .entry("a")
      .edge("a", "gate")
      .edge("gate", END)
      .compile();
    expect(await failure(date.invoke())).toMatchObject({
      code: "suspension_persistence_failed",
      fields: ["x"],
    });
  });

  it("stay where the end of the resumed run cannot be written", async () => {
    const memory = createMemoryStore();
    let isBroken = false;
    const store: GraphStore = {
      ...memory,
      commit: (batch) => (isBroken ? Promise.reject(new TypeError("disk")) : memory.commit(batch)),
    };
    const graph = gated(store);
    const { invocation_id: resumeInvocation } = await graph.invoke({ sessionId: "s" });
    isBroken = true;
    expect((await failure(graph.invoke({ resumeInvocation, signalPayload: { approved: true } }))).code).toBe(
      "session_save_failed",
    );
    isBroken = false;
    const resumed = await graph.invoke({ resumeInvocation, signalPayload: { approved: true } });
    expect(resumed.state.log).toEqual(["ask", "act true"]);
    expect(plain((await store.sessions.load("s"))?.state.log)).toEqual(["ask", "act true"]);
  });

  it("cannot go on without their session, and are migrated with it", async () => {
    const store = createMemoryStore();
    const { invocation_id: resumeInvocation } = await gated(store).invoke({ sessionId: "s" });
    const migrations = [{ from: "", to: "2", migrate: (old: object) => ({ ...old, count: 40 }) }];
    const next = line(
      { ask: logs("ask"), gate: gate(), act: ({ count }) => ({ log: [`act ${count}`] }) },
      { store, session: { schemaVersion: "2", migrations } },
    );
    const kept = await store.sessions.load("s");
    await store.sessions.delete("s");
    expect(await failure(next.invoke({ resumeInvocation, signalPayload: {} }))).toMatchObject({
      code: "suspension_record_invalid",
      data: { reason: "session_missing" },
    });
    await store.sessions.save({
      sessionId: "s",
      schemaVersion: "",
      state: kept?.state ?? {},
      baseVersion: null,
      changes: { fields: {}, lists: {}, removed: [] },
    });
    expect((await next.invoke({ resumeInvocation, signalPayload: {} })).state.log).toEqual(["ask", "act 40"]);
    expect((await store.sessions.load("s"))?.schema_version).toBe("2");
  });

  it.each([
    ["has not been migrated yet", false, 2],
    ["was migrated by another run, which leaves no list of the old version", true, 0],
  ])("are migrated with the lists of a session that %s", async (_, isOver, length) => {
    const store = createMemoryStore();
    const { invocation_id: resumeInvocation } = await gated(store).invoke({
      sessionId: "s",
      initial: { log: ["before"] },
    });
    const migrate = (old: object) => {
      const { log } = old as { log: string[] };
      return { ...old, log: log.map((text) => text.toUpperCase()), count: log.length };
    };
    const options = { store, session: { schemaVersion: "2", migrations: [{ from: "", to: "2", migrate }] } };
    if (isOver) await line({ ask: logs("between") }, options).invoke({ sessionId: "s" });
    const next = line(
      { ask: logs("ask"), gate: gate(), act: ({ count }) => ({ log: [`act ${count}`] }) },
      options,
    );
    const { state } = await next.invoke({ resumeInvocation, signalPayload: {} });
    expect(state.log).toEqual(["BEFORE", "ASK", ...(isOver ? ["between"] : []), `act ${length}`]);
    expect(plain((await store.sessions.load("s"))?.state.log)).toEqual(plain(state.log));
  });

  it("for a signal that is in use are refused, where that was asked for", async () => {
    const store = createMemoryStore();
    const graph = gated(store);
    await graph.invoke({ isSignalUnique: true });
    expect(await failure(graph.invoke({ isSignalUnique: true }))).toMatchObject({
      code: "suspension_persistence_failed",
      cause: { code: "signal_taken" },
    });
    expect((await graph.invoke()).outcome).toBe("suspended");
  });
});
