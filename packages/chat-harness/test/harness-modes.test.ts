import { verifies } from "@harnesskit/conformance/verifies";
import { createMemoryStore, defineGraph, defineState, END, lastWriteWins } from "@harnesskit/graph";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { createChatHarness, createHarness, type TurnReport } from "../src/index.ts";
import { approval, echo, historyOf, user } from "./support/graphs.ts";
import { failed } from "./support/refusal.ts";
import { watchedStore } from "./support/stores.ts";

/** A graph without a history: it counts, and pauses when it is told to. */
const counter = () =>
  defineGraph(
    defineState({
      count: lastWriteWins(z.number(), { default: 0 }),
      isPaused: lastWriteWins(z.boolean(), { default: false }),
    }),
  )
    .node("count", ({ count }) => ({ count: count + 1 }))
    .node("pause", ({ isPaused }, { suspend }) => (isPaused ? suspend({ signal_id: "go on" }) : {}))
    .node("again", ({ count }) => ({ count: count + 1, isPaused: false }))
    .entry("count")
    .edge("count", "pause")
    .edge("pause", "again")
    .edge("again", END);

describe("Harness modes", () => {
  it("gives every turn of a conversation a session", async () => {
    verifies("CHAT-176");
    const store = watchedStore();
    const reports: TurnReport[] = [];
    const harness = createChatHarness({ graph: approval(), store, onTurn: (report) => reports.push(report) });
    await harness.send("s", user("chat"));
    await harness.send("s", user("pay"));
    await harness.signal({ signalId: "approve pay", payload: { approved: true } });
    expect(reports.map(({ session_id }) => session_id)).toEqual(["s", "s", "s"]);
    for (const id of ["", undefined, null, 7, {}, "x".repeat(1025)]) {
      const outcome = await harness.send(id as string, user("chat"));
      expect(failed(outcome)).toBe("harness_session_id_unresolved session_terminating");
    }
  });

  it("classifies every turn, a send never as a signal", async () => {
    verifies("CHAT-178", "CHAT-179");
    const reports: TurnReport[] = [];
    const harness = createChatHarness({ graph: approval(), onTurn: (report) => reports.push(report) });
    const paths = () => reports.splice(0).map(({ path, outcome }) => `${path} ${outcome}`);
    await harness.send("s", user("pay"));
    expect(paths()).toEqual(["new_session suspended"]);
    await harness.send("s", user("pay"));
    expect(paths()).toEqual(["existing_session errored"]);
    await harness.send("s", user("chat"));
    expect(paths()).toEqual(["existing_session completed"]);
    await harness.signal({ signalId: "approve pay" });
    expect(paths()).toEqual(["signal_resume completed"]);
  });

  it("says on the outcome which way a turn took", async () => {
    verifies("CHAT-178", "CHAT-179");
    const harness = createChatHarness({ graph: approval() });
    const path = async (text: string) => (await harness.send("s", user(text))).dispatch_path;
    expect([await path("pay"), await path("chat"), await path("pay")]).toEqual([
      "new_session",
      "existing_session",
      "existing_session",
    ]);
    const resumed = await harness.signal({ signalId: "approve pay" });
    expect(resumed).toMatchObject({ turn: { outcome: "completed", dispatch_path: "signal_resume" } });
    expect((await harness.pending("s")).undelivered).toMatchObject([
      { turn: { dispatch_path: "signal_resume" } },
    ]);
    expect(await harness.send("", user("chat"))).not.toHaveProperty("dispatch_path");
    const stateless = createHarness({ graph: approval(), mode: "stateless" });
    expect(await stateless.transmit({ initial: { messages: [user("chat")] } })).toMatchObject({
      outcome: "completed",
      dispatch_path: "stateless",
    });
  });

  it("calls a session without history new, whatever else it has", async () => {
    verifies("CHAT-179");
    const store = createMemoryStore();
    const changes = { fields: { turns: 3 }, lists: {}, removed: [] };
    const write = { sessionId: "s", schemaVersion: "", state: { turns: 3 }, baseVersion: null, changes };
    await store.sessions.save(write);
    const reports: TurnReport[] = [];
    const harness = createChatHarness({ graph: echo(), store, onTurn: (report) => reports.push(report) });
    await harness.send("s", user("one"));
    await harness.send("s", user("two"));
    expect(reports.map(({ path }) => path)).toEqual(["new_session", "existing_session"]);
    expect((await store.sessions.load("s"))?.state.turns).toBe(3);
  });

  it("loads each session once and leaves it to the engine", async () => {
    verifies("CHAT-180");
    const store = watchedStore();
    const harness = createChatHarness({ graph: echo(), store });
    await harness.send("s", user("one"));
    const calls = ["suspensions.list", "leases.acquire", "sessions.load", "commit session"];
    expect(store.calls.splice(0)).toEqual(calls);
    await harness.send("s", user("two"));
    expect(store.calls).toEqual(calls);
    expect(await historyOf(store, "s")).toEqual(["one", "echo one", "two", "echo two"]);
  });

  it("resumes by the invocation of the suspension, whose session it is", async () => {
    verifies("CHAT-181");
    const reports: TurnReport[] = [];
    const store = watchedStore();
    const harness = createChatHarness({ graph: approval(), store, onTurn: (report) => reports.push(report) });
    const paused = await harness.send("s", user("pay"));
    const outcome = await harness.signal({ signalId: "approve pay", payload: { approved: true } });
    expect(paused).toMatchObject({ outcome: "suspended" });
    const id = paused.outcome === "suspended" ? paused.invocation_id : "";
    expect(outcome).toMatchObject({ outcome: "resumed", invocation_id: id, session_id: "s" });
    expect(reports.map(({ invocation_id }) => invocation_id)).toEqual([id, id]);
    expect(await historyOf(store, "s")).toEqual(["pay", "may I pay?", "done"]);
  });

  it("has a stateless mode that touches no store and knows no session", async () => {
    verifies("CHAT-177");
    const store = watchedStore();
    const harness = createHarness({ graph: counter(), mode: "stateless", store });
    for (let turn = 0; turn < 2; turn++) {
      const outcome = await harness.transmit({ initial: { count: 5 } });
      expect(outcome).toMatchObject({ outcome: "completed", session_id: null, state: { count: 7 } });
    }
    expect(store.calls).toEqual([]);
    const paused = await harness.transmit({ initial: { isPaused: true } });
    expect(paused).toMatchObject({ outcome: "suspended", session_id: null, state: { count: 1 } });
    const invocationId = paused.outcome === "suspended" ? paused.invocation_id : "";
    expect(await harness.pending()).toMatchObject([{ invocation_id: invocationId, session_id: null }]);
    const resumed = await harness.transmit({ signal: { invocationId } });
    expect(resumed).toMatchObject({
      outcome: "resumed",
      turn: { outcome: "completed", state: { count: 2 } },
    });
    expect(await harness.transmit({ signal: { invocationId } })).toEqual({ outcome: "already_resolved" });
    expect(store.calls.some((call) => call.includes("session"))).toBe(false);
  });

  it("keeps sessions in the other mode, under the id that it is given or a new one", async () => {
    verifies("CHAT-178");
    const store = createMemoryStore();
    const reports: TurnReport[] = [];
    const onTurn = (report: TurnReport) => reports.push(report);
    let ids = 0;
    const createId = () => `id-${++ids}`;
    const harness = createHarness({ graph: counter(), mode: "sessioned", store, onTurn, createId });
    expect(await harness.transmit({ isNewSession: true, sessionId: "s" })).toMatchObject({ session_id: "s" });
    expect(await harness.transmit({ sessionId: "s" })).toMatchObject({ state: { count: 4 } });
    expect(await harness.transmit({ isNewSession: true })).toMatchObject({
      session_id: expect.stringMatching(/^id-\d+$/),
      state: { count: 2 },
    });
    expect(reports.map(({ path }) => path)).toEqual(["new_session", "existing_session", "new_session"]);
  });

  it("refuses what cannot be classified", async () => {
    verifies("CHAT-178");
    const sessioned = createHarness({ graph: counter(), mode: "sessioned" });
    const stateless = createHarness({ graph: counter(), mode: "stateless" });
    const category = async (run: Promise<unknown>) => (await run) as { error_category: string };
    const ambiguous = {
      error_category: "harness_path_classification_ambiguous",
      error_bucket: "user_correctable",
    };
    const signal = { signalId: "go on" };
    expect(await category(sessioned.transmit({ signal, sessionId: "s" }))).toMatchObject(ambiguous);
    expect(await category(sessioned.transmit({ signal, isNewSession: true }))).toMatchObject(ambiguous);
    expect(await category(stateless.transmit({ signal, initial: {} }))).toMatchObject(ambiguous);
    expect(await category(stateless.transmit({ sessionId: "s" }))).toMatchObject(ambiguous);
    const unresolved = { error_category: "harness_session_id_unresolved", outcome: "errored" };
    expect(await category(sessioned.transmit({}))).toMatchObject(unresolved);
    expect(await category(sessioned.transmit({ sessionId: "" }))).toMatchObject(unresolved);
    const unknown = { error_category: "harness_signal_correlation_failed", outcome: "errored" };
    expect(await category(sessioned.transmit({ signal }))).toMatchObject(unknown);
  });

  it("gives the errors of a graph their bucket in both modes", async () => {
    const broken = defineGraph(defineState({ count: lastWriteWins(z.number(), { default: 0 }) }))
      .node("break", () => {
        throw Object.assign(new TypeError("no such model"), { category: "provider_invalid_model" });
      })
      .entry("break")
      .edge("break", END);
    const outcome = await createHarness({ graph: broken, mode: "stateless" }).transmit({});
    expect(outcome).toMatchObject({
      outcome: "errored",
      error_bucket: "user_correctable",
      error_category: "provider_invalid_model",
      diagnostic: "no such model",
    });
  });
});
