import { SuspensionRecordSchema } from "@harnesskit/protocol/chat";
import { checkEqual, checkRejects, checkThat } from "@harnesskit/wire/testing";
import type { SuspensionFilter, SuspensionWrite } from "../stores/suspension-store.ts";
import { pausePut, type StoreCases, winner } from "./store-samples.ts";

/** What every store does with suspensions. */
export const suspensionCases: StoreCases = {
  async "a suspension is given back as it was saved, by every store of the storage"({ store, other }) {
    checkEqual(await store.suspensions.load("none"), null, "an unknown suspension");
    const put = pausePut("i1", { session_id: "s1" });
    const { revision } = await store.suspensions.save(put);
    for (const { suspensions } of [store, await other()]) {
      const record = await suspensions.load("i1");
      const { updated_at: time, ...rest } = record ?? { updated_at: "" };
      checkEqual(rest, { ...put.record, revision }, "the record");
      checkThat(!Number.isNaN(Date.parse(time)), "updated_at is not a date");
      const read = SuspensionRecordSchema.safeParse(JSON.parse(JSON.stringify(record)));
      checkThat(read.success, `the record does not fit its schema: ${read.error?.message}`);
    }
  },
  async "an invocation may pause again, over its earlier pause"({ store: { suspensions } }) {
    const first = await suspensions.save(pausePut("i1", { expectedRevision: null }));
    const again = pausePut("i1", { expectedRevision: first.revision, next_step: 9 });
    const second = await suspensions.save(again);
    checkThat(second.revision > first.revision, "the revision does not grow");
    checkEqual((await suspensions.load("i1"))?.next_step, 9, "the second pause");
    const conflict = (write: SuspensionWrite, what: string) =>
      checkRejects(suspensions.save(write), "suspension_conflict", what);
    await conflict(pausePut("i1", { expectedRevision: first.revision }), "a stale pause");
    await conflict(pausePut("i1", { expectedRevision: null }), "a first pause of what exists");
    await conflict(pausePut("i2", { expectedRevision: first.revision }), "a second pause of nothing");
  },
  async "a patch changes what it names; an end drops the state and is final"({ store: { suspensions } }) {
    const put = pausePut("i1");
    const { revision } = await suspensions.save(put);
    const conflict = (write: SuspensionWrite, what: string) =>
      checkRejects(suspensions.save(write), "suspension_conflict", what);
    const signal = { payload: { ok: true }, accepted_at: "2026-01-02T03:04:06.000Z" };
    const patch = { kind: "patch", invocationId: "i1" } as const;
    const accepted = await suspensions.save({ ...patch, signal, expectedRevision: revision });
    const { signal: stored, frames, status } = (await suspensions.load("i1")) ?? {};
    const expectedPatch = { stored: signal, frames: put.record.frames, status: "suspended" };
    checkEqual({ stored, frames, status }, expectedPatch, "the record behind a patch");
    await conflict({ ...patch, signal: null, expectedRevision: revision }, "a stale patch");
    const end = { status: "completed" as const, result: { replies: [1] } };
    const last = { ...patch, ...end, isDelivered: false, expectedRevision: accepted.revision };
    const { revision: ended } = await suspensions.save(last);
    const { updated_at: _, ...record } = (await suspensions.load("i1")) ?? { updated_at: "" };
    const dropped = { frames: [], completed_positions: [] };
    const expected = { ...put.record, ...end, ...dropped, signal, is_delivered: false, revision: ended };
    checkEqual(record, expected, "the end");
    await conflict({ ...patch, status: "errored" }, "a second end");
    await conflict(pausePut("i1"), "a pause after the end");
    await suspensions.save({ ...patch, isDelivered: true });
    checkEqual((await suspensions.load("i1"))?.is_delivered, true, "after the delivery");
    await conflict({ ...patch, invocationId: "i2", isDelivered: true }, "a patch of what does not exist");
  },
  async "of a hundred ends of one suspension, one is kept"({ store, other }) {
    const { revision: expectedRevision } = await store.suspensions.save(pausePut("i1"));
    const second = await other();
    const end = { kind: "patch", invocationId: "i1", status: "completed", expectedRevision } as const;
    const ends = Array.from({ length: 100 }, (_, result) =>
      (result % 2 === 0 ? store : second).suspensions.save({ ...end, result }),
    );
    const won = await winner(ends);
    checkEqual((await store.suspensions.load("i1"))?.result, won, "the result");
  },
  async "a signal may be asked to be unique among those that are waited for"({ store: { suspensions } }) {
    const descriptor = { signal_id: "same" };
    const unique = { descriptor, isSignalUnique: true };
    await suspensions.save(pausePut("i1", unique));
    await checkRejects(suspensions.save(pausePut("i2", unique)), "signal_taken", "a second invocation");
    checkEqual(await suspensions.load("i2"), null, "the refused suspension");
    await suspensions.save(pausePut("i1", unique));
    await suspensions.save(pausePut("i3", { descriptor }));
    await suspensions.delete("i3");
    await suspensions.save({ kind: "patch", invocationId: "i1", status: "completed" });
    await suspensions.save(pausePut("i2", unique));
    checkEqual((await suspensions.load("i2"))?.status, "suspended", "after the first has ended");
  },
  async "suspensions are listed without their state, the first suspended first, and filtered"({
    store: { suspensions },
  }) {
    const at = (second: number) => `2026-01-02T03:04:0${second}.000Z`;
    await suspensions.save(pausePut("b", { suspended_at: at(2), session_id: "s1" }));
    await suspensions.save(pausePut("a", { suspended_at: at(1) }));
    await suspensions.save(pausePut("c", { suspended_at: at(3), session_id: "s1" }));
    const end = { status: "completed", result: 1, isDelivered: false } as const;
    await suspensions.save({ kind: "patch", invocationId: "b", ...end });
    checkThat(!(await suspensions.list()).some((entry) => "frames" in entry), "a summary has a state");
    const filters: readonly (readonly [SuspensionFilter, readonly string[]])[] = [
      [{}, ["a", "b", "c"]],
      [{ status: "suspended" }, ["a", "c"]],
      [{ sessionId: "s1" }, ["b", "c"]],
      [{ signalId: "signal-c" }, ["c"]],
      [{ isDelivered: false }, ["b"]],
      [{ sessionId: "s1", status: "suspended" }, ["c"]],
    ];
    for (const [filter, expected] of filters) {
      const found = (await suspensions.list(filter)).map((record) => record.invocation_id);
      checkEqual(found, expected, `the list of ${JSON.stringify(filter)}`);
    }
    for (const id of ["c", "c"]) await suspensions.delete(id);
    checkEqual(await suspensions.load("c"), null, "what was deleted");
  },
};
