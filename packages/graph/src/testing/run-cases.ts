import { checkEqual, checkRejects } from "@harnesskit/wire/testing";
import type { RunAppend, RunEntry, RunRecord } from "../stores/run-store.ts";
import type { StoreCases } from "./graph-store-contract.ts";
import { firstWrite, pausePut } from "./store-samples.ts";

const recordOf = (runId: string, change: Partial<RunRecord> = {}): RunRecord => ({
  run_id: runId,
  correlation_id: "c1",
  session_id: null,
  schema_version: "1",
  signal_payload: { approved: true, note: "é\u2028" },
  state: { count: 1, list: [{ a: null }] },
  session_lists: { messages: { session_field: "history", length: 2 } },
  began_at: "2026-01-02T03:04:05.678Z",
  ...change,
});

const started = (key: string): RunEntry => ({ kind: "started", key, namespace: ["outer", "a"] });
const completed = (key: string): RunEntry => ({
  kind: "completed",
  key,
  namespace: ["outer", "a"],
  step: 3,
  next_step: 4,
  update: { text: "\u0000", list: [1] },
});

const begin = (runId: string, entries: readonly RunEntry[], change: Partial<RunRecord> = {}): RunAppend => ({
  kind: "append",
  runId,
  record: recordOf(runId, change),
  expectedEntries: 0,
  entries,
});
const append = (runId: string, expectedEntries: number, entries: readonly RunEntry[]): RunAppend => ({
  kind: "append",
  runId,
  expectedEntries,
  entries,
});

/** What every store does with the progress of runs. */
export const runCases: StoreCases = {
  async "a run is stored with its entries, in their order, until it ends"(context) {
    const { store } = context;
    checkEqual(await store.runs.load("r"), null, "an unknown run");
    await store.commit({ run: begin("r", [started("0")]) });
    await store.commit({ run: append("r", 1, [completed("0"), started("1")]) });
    const other = await context.other();
    const stored = { ...recordOf("r"), entries: [started("0"), completed("0"), started("1")] };
    checkEqual(await other.runs.load("r"), stored, "the run");
    await other.commit({ run: { kind: "end", runId: "r" } });
    await other.commit({ run: { kind: "end", runId: "r" } });
    checkEqual(await store.runs.load("r"), null, "a run that has ended");
  },
  async "a run without an entry is a run"({ store }) {
    await store.commit({ run: begin("r", []) });
    checkEqual((await store.runs.load("r"))?.entries, [], "its entries");
    await store.commit({ run: append("r", 0, [started("0")]) });
    checkEqual((await store.runs.load("r"))?.entries, [started("0")], "its first entry");
  },
  async "runs are listed without their state, the oldest first, and found by their session"({ store }) {
    await store.commit({ run: begin("r2", [], { session_id: "s" }) });
    await store.commit({ run: begin("r1", [started("0")]) });
    await store.commit({ run: begin("r3", [], { session_id: "s" }) });
    const ids = async (filter?: { sessionId: string }) =>
      (await store.runs.list(filter)).map(({ run_id: id }) => id);
    checkEqual(await ids(), ["r2", "r1", "r3"], "all");
    checkEqual(await ids({ sessionId: "s" }), ["r2", "r3"], "those of a session");
    checkEqual(await ids({ sessionId: "t" }), [], "those of another session");
    const [, second] = await store.runs.list();
    const { state: _, session_lists: __, ...summary } = recordOf("r1");
    checkEqual(second, summary, "a summary");
    await store.runs.delete("r2");
    await store.runs.delete("r2");
    checkEqual(await ids(), ["r1", "r3"], "after a deletion");
  },
  async "an append that does not follow what is stored is refused"({ store }) {
    await checkRejects(
      store.commit({ run: append("r", 0, [started("0")]) }),
      "run_conflict",
      "an unknown run",
    );
    await store.commit({ run: begin("r", [started("0")]) });
    await checkRejects(store.commit({ run: begin("r", []) }), "run_conflict", "a second beginning");
    for (const expected of [0, 2]) {
      const write = store.commit({ run: append("r", expected, [started("1")]) });
      await checkRejects(write, "run_conflict", `${expected} entries expected`);
    }
    checkEqual((await store.runs.load("r"))?.entries, [started("0")], "the entries after the refusals");
  },
  async "progress is stored with the session and the suspension, or none of them"({ store }) {
    const session = firstWrite("s", { list: [1] });
    const wrong = store.commit({ session, suspension: pausePut("i"), run: append("r", 0, []) });
    await checkRejects(wrong, "run_conflict", "a refused run");
    checkEqual(await store.sessions.load("s"), null, "the session beside a refused run");
    checkEqual(await store.suspensions.load("i"), null, "the suspension beside a refused run");
    const refused = firstWrite("s", { list: [1] }, { expectedVersion: 7 });
    const conflict = store.commit({ session: refused, run: begin("r", []) });
    await checkRejects(conflict, "session_write_conflict", "a refused session");
    checkEqual(await store.runs.load("r"), null, "the run beside a refused session");
    await store.commit({ run: begin("r", [started("0")]) });
    await store.commit({ session, suspension: pausePut("i"), run: { kind: "end", runId: "r" } });
    checkEqual(await store.runs.load("r"), null, "the run that ended with them");
    checkEqual((await store.suspensions.load("i"))?.status, "suspended", "the suspension");
  },
  async "progress is refused after the loss of a lease"({ store }) {
    const lease = await store.leases.acquire("k", { ttlMs: 60_000 });
    await store.commit({ run: begin("r", []), leases: [lease] });
    await lease.release();
    const late = store.commit({ run: append("r", 0, [started("0")]), leases: [lease] });
    await checkRejects(late, "lease_lost", "a late append");
    await checkRejects(
      store.commit({ run: { kind: "end", runId: "r" }, leases: [lease] }),
      "lease_lost",
      "a late end",
    );
    checkEqual((await store.runs.load("r"))?.entries, [], "the entries");
  },
};
