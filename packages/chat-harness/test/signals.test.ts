import { createMemoryStore, type NodeBody } from "@harnesskit/graph";
import type { ChatTurnOutcome } from "@harnesskit/protocol/chat";
import { describe, expect, it, vi } from "vitest";
import { nextTurn } from "../../../test-kit/test-kit.ts";
import type { ResumedTurn } from "../src/deliveries.ts";
import {
  type ChatHarness,
  type ChatHarnessOptions,
  createChatHarness,
  type Delivery,
  type SignalOutcome,
} from "../src/index.ts";
import { approval, gate, historyOf, line, says, type TestFields, user } from "./support/graphs.ts";
import { failed } from "./support/refusal.ts";
import { texts } from "./support/texts.ts";

const yes = { approved: true };
const invocationOf = (outcome: ChatTurnOutcome): string =>
  outcome.outcome === "suspended" ? outcome.invocation_id : expect.fail("it did not suspend");

/** What a resume gave, as texts; fails the test for another outcome. */
const resumedTexts = (outcome: SignalOutcome): string[] =>
  outcome.outcome === "resumed" ? texts(outcome.turn) : expect.fail(JSON.stringify(outcome));

const warnings: unknown[] = [];
const make = (options: Partial<ChatHarnessOptions<TestFields>> = {}): ChatHarness<TestFields> =>
  createChatHarness({ graph: approval(), onError: (_, context) => warnings.push(context), ...options });

/** A harness, its store, and what listeners of the session `s` were told. */
const listening = (options: Partial<ChatHarnessOptions<TestFields>> = {}) => {
  const store = options.store ?? createMemoryStore();
  const harness = make({ ...options, store });
  const heard: string[][] = [];
  const stop = harness.subscribe("s", (turn) => heard.push(texts(turn)));
  return { store, harness, heard, stop };
};

/** A graph that adds a message before each of two pauses and one at the end. */
const twice = () =>
  line({
    one: () => ({ messages: [says("first?")] }),
    waitOne: (_, { suspend }) => suspend({ signal_id: "first" }),
    two: () => ({ messages: [says("second?")] }),
    waitTwo: (_, { suspend }) => suspend({ signal_id: "second" }),
    three: () => ({ messages: [says("done")] }),
  });

describe("Signals and listeners", () => {
  it("tells a listener how a resumed turn ended, once, and nothing of the turn that suspended", async () => {
    const { harness, heard } = listening();
    await harness.send("s", user("chat"));
    await harness.send("s", user("pay"));
    expect(heard).toEqual([]);
    const other: unknown[] = [];
    harness.subscribe("t", (turn) => other.push(turn));
    await harness.signal({ signalId: "approve pay", payload: yes });
    await harness.signal({ signalId: "approve pay", payload: yes });
    await harness.send("s", user("chat"));
    expect([heard, other]).toEqual([[["done"]], []]);
  });

  it("tells several listeners, each once, with where the turn belongs", async () => {
    const harness = make();
    const told: Delivery[] = [];
    for (let listener = 0; listener < 3; listener++) {
      harness.subscribe("s", (turn, delivery) => {
        expect(delivery.turn).toBe(turn);
        told.push(delivery);
      });
    }
    const invocation = invocationOf(await harness.send("s", user("pay")));
    await harness.signal({ invocationId: invocation, payload: yes });
    const turn = { outcome: "completed", replies: [says("done")], dispatch_path: "signal_resume" };
    expect(told).toEqual(Array(3).fill({ session_id: "s", invocation_id: invocation, turn }));
  });

  it("tells a listener of a resumed turn that failed", async () => {
    const graph = line({
      wait: (_, { suspend }) => suspend({ signal_id: "x" }),
      fail: () => {
        throw Object.assign(new TypeError("no such model"), { category: "provider_invalid_model" });
      },
    });
    const harness = make({ graph });
    const told: ResumedTurn[] = [];
    harness.subscribe("s", (turn) => told.push(turn));
    await harness.send("s", user("a"));
    const outcome = await harness.signal({ signalId: "x" });
    expect(told.map(failed)).toEqual(["provider_invalid_model user_correctable"]);
    expect(outcome).toMatchObject({ outcome: "resumed", turn: told[0] });
    expect(await harness.signal({ signalId: "x" })).toEqual({ outcome: "already_resolved" });
  });

  it("takes a listener back", async () => {
    const { harness, heard, stop } = listening();
    await harness.send("s", user("pay"));
    stop();
    stop();
    await harness.signal({ signalId: "approve pay", payload: yes });
    expect(heard).toEqual([]);
    harness.subscribe("s", (turn) => heard.push(texts(turn)));
    await vi.waitFor(() => expect(heard).toEqual([["done"]]));
  });

  it.each(["signalId", "invocationId", "both"])("finds a suspension by its %s", async (by) => {
    const harness = make();
    const ids = ["pay", "buy", "sell"];
    const paused = new Map<string, string>();
    for (const id of ids) paused.set(id, invocationOf(await harness.send("s", user(id))));
    for (const id of ["sell", "pay", "buy"]) {
      const signalId = `approve ${id}`;
      const invocationId = paused.get(id) as string;
      const name =
        by === "both" ? { signalId, invocationId } : by === "signalId" ? { signalId } : { invocationId };
      const outcome = await harness.signal({ ...name, payload: yes });
      expect(outcome).toMatchObject({ outcome: "resumed", invocation_id: invocationId });
    }
    expect((await harness.pending()).suspended).toEqual([]);
  });

  it("refuses a signal id that is in use, and stores nothing of that turn", async () => {
    const store = createMemoryStore();
    const harness = make({ store });
    await harness.send("s", user("pay"));
    const before = await store.sessions.load("s");
    const taken = "harness_signal_subscription_failed retryable_transient";
    expect(failed(await harness.send("s", user("pay")))).toBe(taken);
    expect(failed(await harness.send("t", user("pay")))).toBe(taken);
    expect([await store.sessions.load("s"), await store.sessions.load("t")]).toEqual([before, null]);
    expect((await harness.pending()).suspended).toHaveLength(1);
    await harness.signal({ signalId: "approve pay" });
    expect(await harness.send("t", user("pay"))).toMatchObject({ outcome: "suspended" });
  });

  it.each([
    ["no object", null as never],
    ["unknown", { signalId: "nobody" }],
    ["of an unknown invocation", { invocationId: "nobody" }],
    ["without a name", {}],
    ["with an empty name", { signalId: "" }],
    ["with a name that is no text", { signalId: 7 as never }],
    ["of another session", { signalId: "approve pay", sessionId: "t" }],
    ["of another invocation", { signalId: "approve pay", invocationId: "nobody" }],
  ])("refuses a signal that is %s", async (_, signal) => {
    const harness = make();
    const invocationId = invocationOf(await harness.send("s", user("pay")));
    const unknown = "harness_signal_correlation_failed user_correctable";
    expect(failed(await harness.signal(signal && { ...signal, payload: yes }))).toBe(unknown);
    const wrong = await harness.signal({ invocationId, signalId: "approve all", payload: yes });
    expect(failed(wrong)).toBe(unknown);
    const right = await harness.signal({ signalId: "approve pay", sessionId: "s", payload: yes });
    expect(resumedTexts(right)).toEqual(["done"]);
  });

  it.each<[string, object]>([
    ["no invocation", { signalId: "approve pay", invocationId: null }],
    ["no session", { signalId: "approve pay", sessionId: null }],
    ["no payload", { signalId: "approve pay", payload: null }],
  ])("takes null for %s, as JSON has it", async (_, signal) => {
    const harness = make();
    await harness.send("s", user("pay"));
    expect(resumedTexts(await harness.signal(signal))).toEqual(["not done"]);
  });

  describe("a signal that is delivered many times", () => {
    it.each(["signalId", "invocationId"])("resumes once (%s)", async (by) => {
      const { store, harness, heard } = listening({ limits: { maxQueuedTurns: 100 } });
      const invocationId = invocationOf(await harness.send("s", user("pay")));
      const name = by === "signalId" ? { signalId: "approve pay" } : { invocationId };
      const outcomes = await Promise.all(
        Array.from({ length: 100 }, () => harness.signal({ ...name, payload: yes })),
      );
      const counts = outcomes.map(({ outcome }) => outcome);
      expect(counts.filter((outcome) => outcome === "resumed")).toHaveLength(1);
      expect(counts.filter((outcome) => outcome === "already_resolved")).toHaveLength(99);
      expect(heard).toEqual([["done"]]);
      expect(await historyOf(store, "s")).toEqual(["pay", "may I pay?", "done"]);
      expect(await harness.signal({ ...name, payload: yes })).toEqual({ outcome: "already_resolved" });
    });

    it("resumes once beside other harnesses over the same store", async () => {
      const { store, harness, heard } = listening();
      const others = [make({ store }), make({ store })];
      await harness.send("s", user("pay"));
      const outcomes = await Promise.all(
        Array.from({ length: 99 }, (_, index) =>
          ([harness, ...others][index % 3] as typeof harness).signal({
            signalId: "approve pay",
            payload: yes,
          }),
        ),
      );
      expect(outcomes.filter(({ outcome }) => outcome === "resumed")).toHaveLength(1);
      expect(outcomes.filter(({ outcome }) => outcome === "already_resolved")).toHaveLength(98);
      expect(await historyOf(store, "s")).toEqual(["pay", "may I pay?", "done"]);
      await harness.recover();
      expect(heard).toEqual([["done"]]);
    });

    it("does not answer the next pause of the same invocation", async () => {
      const harness = make({ graph: twice() });
      const invocationId = invocationOf(await harness.send("s", user("a")));
      const outcomes = await Promise.all(Array.from({ length: 10 }, () => harness.signal({ invocationId })));
      expect(outcomes.filter(({ outcome }) => outcome === "resumed")).toHaveLength(1);
      const { suspended } = await harness.pending();
      expect(suspended).toMatchObject([{ signal_descriptor: { signal_id: "second" } }]);
      expect(await harness.signal({ signalId: "first" })).toEqual({ outcome: "already_resolved" });
      expect(await harness.signal({ signalId: "first", invocationId })).toEqual({
        outcome: "already_resolved",
      });
      expect(resumedTexts(await harness.signal({ signalId: "second" }))).toEqual(["second?", "done"]);
    });
  });

  it("is not disturbed by a listener that throws, rejects or hangs", async () => {
    const harness = make();
    const heard: string[] = [];
    warnings.length = 0;
    harness.subscribe("s", () => {
      heard.push("throws");
      throw new TypeError("a listener fails");
    });
    harness.subscribe("s", async () => {
      heard.push("rejects");
      return Promise.reject(new TypeError("a listener fails"));
    });
    harness.subscribe("s", () => new Promise(() => heard.push("hangs")));
    harness.subscribe("s", () => heard.push("takes"));
    await harness.send("s", user("pay"));
    expect(resumedTexts(await harness.signal({ signalId: "approve pay", payload: yes }))).toEqual(["done"]);
    await vi.waitFor(async () => expect((await harness.pending()).undelivered).toEqual([]));
    expect(heard).toEqual(["throws", "rejects", "hangs", "takes"]);
    expect(warnings).toMatchObject(Array(2).fill({ kind: "listener_failed" }));
    expect(texts(await harness.send("s", user("chat")))).toEqual(["you said chat"]);
  });

  it("keeps what every listener has refused for another one", async () => {
    const harness = make();
    let calls = 0;
    harness.subscribe("s", () => {
      calls++;
      throw new TypeError("a listener fails");
    });
    await harness.send("s", user("pay"));
    await harness.signal({ signalId: "approve pay", payload: yes });
    await vi.waitFor(async () => expect((await harness.pending("s")).undelivered).toHaveLength(1));
    await harness.recover();
    const heard: string[][] = [];
    harness.subscribe("s", (turn) => heard.push(texts(turn)));
    await vi.waitFor(() => expect(heard).toEqual([["done"]]));
    await vi.waitFor(async () => expect((await harness.pending("s")).undelivered).toEqual([]));
    expect(calls).toBe(1);
  });

  it("tells the whole of it, and nothing else, when others have written in between", async () => {
    const graph = approvalInTwoSteps();
    const { store, harness, heard } = listening({ graph });
    await harness.send("s", user("pay"));
    await harness.send("s", user("chat 1"));
    await harness.signal({ signalId: "first" });
    await harness.send("s", user("chat 2"));
    await harness.signal({ signalId: "second" });
    expect(heard).toEqual([["second?", "done"]]);
    const said = ["pay", "first?", "chat 1", "ok", "second?", "chat 2", "ok", "done"];
    expect(await historyOf(store, "s")).toEqual(said);
  });

  it("resumes in the lane of its session", async () => {
    const door = gate();
    const graph = line({
      wait: ({ messages }, { suspend }) => {
        if (messages.at(-1)?.content === "pay") suspend({ signal_id: "x" });
      },
      answer: async () => {
        await door.wait();
        return { messages: [says("ok")] };
      },
    });
    const harness = make({ graph });
    await harness.send("s", user("pay"));
    const turns = [harness.signal({ signalId: "x" }), harness.send("s", user("chat"))];
    await vi.waitFor(() => expect(door.count).toBe(1));
    await nextTurn();
    expect(door.count).toBe(1);
    door.openOne();
    await Promise.race(turns);
    await vi.waitFor(() => expect(door.count).toBe(1));
    door.openOne();
    expect((await Promise.all(turns)).map(({ outcome }) => outcome)).toEqual(["resumed", "completed"]);
  });

  it("has a limit of listeners", () => {
    const harness = make({ limits: { maxListeners: 2 } });
    const stop = harness.subscribe("s", () => {});
    harness.subscribe("t", () => {});
    expect(() => harness.subscribe("s", () => {})).toThrow(
      expect.objectContaining({ code: "too_many_listeners" }),
    );
    stop();
    expect(harness.subscribe("u", () => {})).toBeTypeOf("function");
  });
});

/** A graph that pauses twice for `pay`, and answers all else with `ok`. */
const approvalInTwoSteps = () => {
  const waitFor =
    (signal_id: string): NodeBody<TestFields> =>
    ({ turns }, { suspend }) => {
      if (turns === 1) suspend({ signal_id });
    };
  const say =
    (text: string): NodeBody<TestFields> =>
    ({ turns }) =>
      turns === 1 ? { messages: [says(text)] } : {};
  return line({
    begin: ({ messages }) =>
      messages.at(-1)?.content === "pay"
        ? { turns: 1, messages: [says("first?")] }
        : { turns: 0, messages: [says("ok")] },
    waitOne: waitFor("first"),
    two: say("second?"),
    waitTwo: waitFor("second"),
    three: say("done"),
  });
};
