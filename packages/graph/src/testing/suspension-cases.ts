import { SuspensionRecordSchema } from "@harnesskit/protocol/chat";
import { checkEqual, checkRejects, checkThat } from "@harnesskit/wire/testing";
import type { SuspensionFilter } from "../stores/suspension-store.ts";
import type { StoreCases } from "./graph-store-contract.ts";
import { pausePut } from "./store-samples.ts";

const ids = (records: readonly { readonly invocation_id: string }[]) =>
  records.map((record) => record.invocation_id);

/** What every store does with suspensions. */
export const suspensionCases: StoreCases = {
  async "a suspension is given back as it was saved, by every store of the storage"(context) {
    checkEqual(await context.store.suspensions.load("none"), null, "an unknown suspension");
    const put = pausePut("i1", { session_id: "s1" });
    const { revision } = await context.store.suspensions.save(put);
    const other = await context.other();
    for (const store of [context.store, other]) {
      const record = await store.suspensions.load("i1");
      const { updated_at: time, ...rest } = record ?? { updated_at: "" };
      checkEqual(rest, { ...put.record, revision }, "the record");
      checkThat(!Number.isNaN(Date.parse(time)), "updated_at is not a date");
      const read = SuspensionRecordSchema.safeParse(JSON.parse(JSON.stringify(record)));
      checkThat(read.success, `the record does not fit its schema: ${read.error?.message}`);
    }
  },
  async "an invocation may pause again, over its earlier pause"({ store }) {
    const first = await store.suspensions.save(pausePut("i1", { expectedRevision: null }));
    const again = pausePut("i1", { expectedRevision: first.revision, next_step: 9 });
    const second = await store.suspensions.save(again);
    checkThat(second.revision > first.revision, "the revision does not grow");
    checkEqual((await store.suspensions.load("i1"))?.next_step, 9, "the second pause");
    const stale = store.suspensions.save(pausePut("i1", { expectedRevision: first.revision }));
    await checkRejects(stale, "suspension_conflict", "a stale pause");
    const fresh = store.suspensions.save(pausePut("i1", { expectedRevision: null }));
    await checkRejects(fresh, "suspension_conflict", "a first pause of what exists");
    const none = store.suspensions.save(pausePut("i2", { expectedRevision: first.revision }));
    await checkRejects(none, "suspension_conflict", "a second pause of what does not exist");
  },
  async "a patch changes what it names; an end drops the state and is final"({ store }) {
    const put = pausePut("i1");
    const { revision } = await store.suspensions.save(put);
    const signal = { payload: { ok: true }, accepted_at: "2026-01-02T03:04:06.000Z" };
    const patch = { kind: "patch", invocationId: "i1" } as const;
    const accepted = await store.suspensions.save({ ...patch, signal, expectedRevision: revision });
    const waiting = await store.suspensions.load("i1");
    checkEqual(waiting?.signal, signal, "the signal");
    checkEqual(waiting?.frames, put.record.frames, "the state beside a patch");
    checkEqual(waiting?.status, "suspended", "the status beside a patch");
    const stale = { ...patch, signal: null, expectedRevision: revision };
    await checkRejects(store.suspensions.save(stale), "suspension_conflict", "a stale patch");
    const end = { status: "completed" as const, result: { replies: [1] } };
    const last = { ...patch, ...end, isDelivered: false, expectedRevision: accepted.revision };
    const { revision: ended } = await store.suspensions.save(last);
    const { updated_at: _, ...record } = (await store.suspensions.load("i1")) ?? { updated_at: "" };
    const dropped = { frames: [], completed_positions: [] };
    const expected = { ...put.record, ...end, ...dropped, signal, is_delivered: false, revision: ended };
    checkEqual(record, expected, "the end");
    const twice = { ...patch, status: "errored" } as const;
    await checkRejects(store.suspensions.save(twice), "suspension_conflict", "a second end");
    await checkRejects(
      store.suspensions.save(pausePut("i1")),
      "suspension_conflict",
      "a pause after the end",
    );
    await store.suspensions.save({ ...patch, isDelivered: true });
    checkEqual((await store.suspensions.load("i1"))?.is_delivered, true, "after the delivery");
    const unknown = store.suspensions.save({ ...patch, invocationId: "i2", isDelivered: true });
    await checkRejects(unknown, "suspension_conflict", "a patch of what does not exist");
  },
  async "of a hundred ends of one suspension, one is kept"(context) {
    const { revision } = await context.store.suspensions.save(pausePut("i1"));
    const other = await context.other();
    const ends = Array.from({ length: 100 }, (_, index) =>
      (index % 2 === 0 ? context.store : other).suspensions.save({
        kind: "patch",
        invocationId: "i1",
        status: "completed",
        result: index,
        expectedRevision: revision,
      }),
    );
    const outcomes = await Promise.allSettled(ends);
    const won = outcomes.flatMap(({ status }, index) => (status === "fulfilled" ? [index] : []));
    checkEqual(won.length, 1, "how many ends were kept");
    checkEqual((await context.store.suspensions.load("i1"))?.result, won[0], "the result");
  },
  async "a signal may be asked to be unique among those that are waited for"({ store }) {
    const descriptor = { signal_id: "same" };
    await store.suspensions.save(pausePut("i1", { descriptor, isSignalUnique: true }));
    const taken = store.suspensions.save(pausePut("i2", { descriptor, isSignalUnique: true }));
    await checkRejects(taken, "signal_taken", "a second invocation");
    checkEqual(await store.suspensions.load("i2"), null, "the refused suspension");
    await store.suspensions.save(pausePut("i1", { descriptor, isSignalUnique: true }));
    await store.suspensions.save(pausePut("i3", { descriptor }));
    await store.suspensions.delete("i3");
    await store.suspensions.save({ kind: "patch", invocationId: "i1", status: "completed" });
    await store.suspensions.save(pausePut("i2", { descriptor, isSignalUnique: true }));
    checkEqual((await store.suspensions.load("i2"))?.status, "suspended", "after the first has ended");
  },
  async "suspensions are listed without their state, the first suspended first, and filtered"({ store }) {
    const at = (second: number) => `2026-01-02T03:04:0${second}.000Z`;
    await store.suspensions.save(pausePut("b", { suspended_at: at(2), session_id: "s1" }));
    await store.suspensions.save(pausePut("a", { suspended_at: at(1) }));
    await store.suspensions.save(pausePut("c", { suspended_at: at(3), session_id: "s1" }));
    const end = { status: "completed", result: 1, isDelivered: false } as const;
    await store.suspensions.save({ kind: "patch", invocationId: "b", ...end });
    const all = await store.suspensions.list();
    checkEqual(ids(all), ["a", "b", "c"], "the order");
    checkThat(!all.some((entry) => "frames" in entry), "a summary has a state");
    const filters: readonly (readonly [SuspensionFilter, readonly string[]])[] = [
      [{ status: "suspended" }, ["a", "c"]],
      [{ sessionId: "s1" }, ["b", "c"]],
      [{ signalId: "signal-c" }, ["c"]],
      [{ isDelivered: false }, ["b"]],
      [{ sessionId: "s1", status: "suspended" }, ["c"]],
    ];
    for (const [filter, expected] of filters) {
      checkEqual(
        ids(await store.suspensions.list(filter)),
        expected,
        `the list of ${JSON.stringify(filter)}`,
      );
    }
    await store.suspensions.delete("c");
    await store.suspensions.delete("c");
    checkEqual(await store.suspensions.load("c"), null, "what was deleted");
  },
};
