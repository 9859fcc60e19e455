import { checkEqual, checkRejects } from "@harnesskit/wire/testing";
import type { RunAppend, RunEntry, RunRecord } from "../stores/run-store.ts";
import { firstWrite, pausePut, type StoreCases } from "./store-samples.ts";

const recordOf = (runId: string, session_id: string | null = null): RunRecord => ({
  run_id: runId,
  correlation_id: "c1",
  session_id,
  schema_version: "1",
  signal_payload: { approved: true, note: "é\u2028" },
  state: { count: 1, list: [{ a: null }] },
  session_lists: { messages: { session_field: "history", length: 2 } },
  began_at: "2026-01-02T03:04:05.678Z",
});

const namespace = ["outer", "a"];
const started = (key: string): RunEntry => ({ kind: "started", key, namespace });
const completed = (key: string): RunEntry => {
  const update = { text: "\u0000", list: [1] };
  return { kind: "completed", key, namespace, step: 3, next_step: 4, update };
};

const append = (runId: string, expectedEntries: number, entries: readonly RunEntry[]): RunAppend => ({
  kind: "append",
  runId,
  expectedEntries,
  entries,
});
const begin = (runId: string, entries: readonly RunEntry[], sessionId?: string): RunAppend => ({
  ...append(runId, 0, entries),
  record: recordOf(runId, sessionId),
});

/** What every store does with the progress of runs. */
export const runCases: StoreCases = {
  async "a run is stored with its entries, in their order, until it ends"({ store, other }) {
    checkEqual(await store.runs.load("r"), null, "an unknown run");
    await store.commit({ run: begin("r", [started("0")]) });
    await store.commit({ run: append("r", 1, [completed("0"), started("1")]) });
    await store.commit({ run: begin("empty", []) });
    const second = await other();
    const stored = { ...recordOf("r"), entries: [started("0"), completed("0"), started("1")] };
    checkEqual(await second.runs.load("r"), stored, "the run");
    for (const runId of ["r", "r"]) await second.commit({ run: { kind: "end", runId } });
    checkEqual(await store.runs.load("r"), null, "a run that has ended");
    checkEqual((await second.runs.load("empty"))?.entries, [], "a run without an entry");
    await store.commit({ run: append("empty", 0, [started("0")]) });
    checkEqual((await store.runs.load("empty"))?.entries, [started("0")], "its first entry");
  },
  async "runs are listed without their state, the oldest first, and found by their session"({ store }) {
    await store.commit({ run: begin("r2", [], "s") });
    await store.commit({ run: begin("r1", [started("0")]) });
    await store.commit({ run: begin("r3", [], "s") });
    const ids = async (sessionId?: string) =>
      (await store.runs.list({ sessionId })).map(({ run_id: id }) => id);
    checkEqual(await ids(), ["r2", "r1", "r3"], "all");
    checkEqual(await ids("s"), ["r2", "r3"], "those of a session");
    checkEqual(await ids("t"), [], "those of another session");
    const { state: _, session_lists: __, ...summary } = recordOf("r1");
    checkEqual((await store.runs.list())[1], summary, "a summary");
    for (const id of ["r2", "r2"]) await store.runs.delete(id);
    checkEqual(await ids(), ["r1", "r3"], "after a deletion");
  },
  async "an append that does not follow what is stored is refused"({ store }) {
    const conflict = (run: RunAppend, what: string) =>
      checkRejects(store.commit({ run }), "run_conflict", what);
    await conflict(append("r", 0, [started("0")]), "an unknown run");
    await store.commit({ run: begin("r", [started("0")]) });
    await conflict(begin("r", []), "a second beginning");
    for (const expected of [0, 2]) await conflict(append("r", expected, []), `${expected} entries expected`);
    checkEqual((await store.runs.load("r"))?.entries, [started("0")], "the entries after the refusals");
  },
  async "progress is stored with the session and the suspension, or none of them"({ store }) {
    const session = firstWrite("s", { list: [1] });
    const suspension = pausePut("i");
    const wrong = store.commit({ session, suspension, run: append("r", 0, []) });
    await checkRejects(wrong, "run_conflict", "a refused run");
    checkEqual(await store.sessions.load("s"), null, "the session beside a refused run");
    checkEqual(await store.suspensions.load("i"), null, "the suspension beside a refused run");
    const refused = firstWrite("s", { list: [1] }, { expectedVersion: 7 });
    const conflict = store.commit({ session: refused, run: begin("r", []) });
    await checkRejects(conflict, "session_write_conflict", "a refused session");
    checkEqual(await store.runs.load("r"), null, "the run beside a refused session");
    await store.commit({ run: begin("r", [started("0")]) });
    await store.commit({ session, suspension, run: { kind: "end", runId: "r" } });
    checkEqual(await store.runs.load("r"), null, "the run that ended with them");
    checkEqual((await store.suspensions.load("i"))?.status, "suspended", "the suspension");
  },
  async "progress is refused after the loss of a lease"({ store }) {
    const lease = await store.leases.acquire("k", { ttlMs: 60_000 });
    await store.commit({ run: begin("r", []), leases: [lease] });
    await lease.release();
    for (const run of [append("r", 0, [started("0")]), { kind: "end", runId: "r" } as const])
      await checkRejects(store.commit({ run, leases: [lease] }), "lease_lost", `a late ${run.kind}`);
    checkEqual((await store.runs.load("r"))?.entries, [], "the entries");
  },
};
