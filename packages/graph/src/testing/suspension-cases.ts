import { SuspensionRecordSchema } from "@harnesskit/protocol/chat";
import { demand, demandRejection, demandSame } from "./contract-error.ts";
import type { StoreCase } from "./store-case.ts";
import { pause } from "./store-samples.ts";

const ids = (records: readonly { readonly invocation_id: string }[]) =>
  records.map((record) => record.invocation_id);

/** What every store does with suspensions. */
export const suspensionCases: readonly StoreCase[] = [
  {
    name: "a suspension is given back as it was saved, by every store of the storage",
    async run(context) {
      demandSame(await context.store.suspensions.load("none"), null, "an unknown suspension");
      const put = pause("i1", { session_id: "s1" });
      const { revision } = await context.store.suspensions.save(put);
      const other = await context.other();
      for (const store of [context.store, other]) {
        const record = await store.suspensions.load("i1");
        const { updated_at: time, ...rest } = record ?? { updated_at: "" };
        demandSame(rest, { ...put.record, revision }, "the record");
        demand(!Number.isNaN(Date.parse(time)), "updated_at is no time");
        const read = SuspensionRecordSchema.safeParse(JSON.parse(JSON.stringify(record)));
        demand(read.success, `the record does not fit its schema: ${read.error?.message}`);
      }
    },
  },
  {
    name: "an invocation may pause again, over its earlier pause",
    async run({ store }) {
      const first = await store.suspensions.save(pause("i1", { expectedRevision: null }));
      const again = pause("i1", { expectedRevision: first.revision, next_step: 9 });
      const second = await store.suspensions.save(again);
      demand(second.revision > first.revision, "the revision does not grow");
      demandSame((await store.suspensions.load("i1"))?.next_step, 9, "the second pause");
      const stale = store.suspensions.save(pause("i1", { expectedRevision: first.revision }));
      await demandRejection(stale, "suspension_conflict", "a stale pause");
      const fresh = store.suspensions.save(pause("i1", { expectedRevision: null }));
      await demandRejection(fresh, "suspension_conflict", "a first pause of what exists");
      const none = store.suspensions.save(pause("i2", { expectedRevision: first.revision }));
      await demandRejection(none, "suspension_conflict", "a second pause of what does not exist");
    },
  },
  {
    name: "a patch changes what it names; an end drops the state and is final",
    async run({ store }) {
      const put = pause("i1");
      const { revision } = await store.suspensions.save(put);
      const signal = { payload: { ok: true }, accepted_at: "2026-01-02T03:04:06.000Z" };
      const accepted = await store.suspensions.save({
        kind: "patch",
        invocationId: "i1",
        signal,
        expectedRevision: revision,
      });
      const waiting = await store.suspensions.load("i1");
      demandSame(waiting?.signal, signal, "the signal");
      demandSame(waiting?.frames, put.record.frames, "the state beside a patch");
      demandSame(waiting?.status, "suspended", "the status beside a patch");
      const stale = { kind: "patch", invocationId: "i1", signal: null, expectedRevision: revision } as const;
      await demandRejection(store.suspensions.save(stale), "suspension_conflict", "a stale patch");
      await store.suspensions.save({
        kind: "patch",
        invocationId: "i1",
        status: "completed",
        result: { replies: [1] },
        isDelivered: false,
        expectedRevision: accepted.revision,
      });
      const ended = await store.suspensions.load("i1");
      demandSame(
        [
          ended?.status,
          ended?.result,
          ended?.is_delivered,
          ended?.frames,
          ended?.completed_positions,
          ended?.signal,
        ],
        ["completed", { replies: [1] }, false, [], [], signal],
        "the end",
      );
      const twice = { kind: "patch", invocationId: "i1", status: "errored" } as const;
      await demandRejection(store.suspensions.save(twice), "suspension_conflict", "a second end");
      await demandRejection(
        store.suspensions.save(pause("i1")),
        "suspension_conflict",
        "a pause after the end",
      );
      await store.suspensions.save({ kind: "patch", invocationId: "i1", isDelivered: true });
      demandSame((await store.suspensions.load("i1"))?.is_delivered, true, "after the delivery");
      const unknown = store.suspensions.save({ kind: "patch", invocationId: "i2", isDelivered: true });
      await demandRejection(unknown, "suspension_conflict", "a patch of what does not exist");
    },
  },
  {
    name: "of a hundred ends of one suspension, one is kept",
    async run(context) {
      const { revision } = await context.store.suspensions.save(pause("i1"));
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
      demandSame(won.length, 1, "how many ends were kept");
      demandSame((await context.store.suspensions.load("i1"))?.result, won[0], "the result");
    },
  },
  {
    name: "a signal may be asked to be unique among those that are waited for",
    async run({ store }) {
      const descriptor = { signal_id: "same" };
      await store.suspensions.save(pause("i1", { descriptor, isSignalUnique: true }));
      const taken = store.suspensions.save(pause("i2", { descriptor, isSignalUnique: true }));
      await demandRejection(taken, "signal_taken", "a second invocation");
      demandSame(await store.suspensions.load("i2"), null, "the refused suspension");
      await store.suspensions.save(pause("i1", { descriptor, isSignalUnique: true }));
      await store.suspensions.save(pause("i3", { descriptor }));
      await store.suspensions.delete("i3");
      await store.suspensions.save({ kind: "patch", invocationId: "i1", status: "completed" });
      await store.suspensions.save(pause("i2", { descriptor, isSignalUnique: true }));
      demandSame((await store.suspensions.load("i2"))?.status, "suspended", "after the first has ended");
    },
  },
  {
    name: "suspensions are listed without their state, the first suspended first, and filtered",
    async run({ store }) {
      const at = (second: number) => `2026-01-02T03:04:0${second}.000Z`;
      await store.suspensions.save(pause("b", { suspended_at: at(2), session_id: "s1" }));
      await store.suspensions.save(pause("a", { suspended_at: at(1) }));
      await store.suspensions.save(pause("c", { suspended_at: at(3), session_id: "s1" }));
      const end = { status: "completed", result: 1, isDelivered: false } as const;
      await store.suspensions.save({ kind: "patch", invocationId: "b", ...end });
      const all = await store.suspensions.list();
      demandSame(ids(all), ["a", "b", "c"], "the order");
      demand(
        all.every((entry) => !("frames" in entry)),
        "a summary has a state",
      );
      demandSame(ids(await store.suspensions.list({ status: "suspended" })), ["a", "c"], "those that wait");
      demandSame(ids(await store.suspensions.list({ sessionId: "s1" })), ["b", "c"], "those of a session");
      demandSame(ids(await store.suspensions.list({ sessionId: null })), ["a"], "those of none");
      demandSame(ids(await store.suspensions.list({ signalId: "signal-c" })), ["c"], "those of a signal");
      demandSame(ids(await store.suspensions.list({ isDelivered: false })), ["b"], "those to be delivered");
      const both = await store.suspensions.list({ sessionId: "s1", status: "suspended" });
      demandSame(ids(both), ["c"], "those of a session that wait");
      await store.suspensions.delete("c");
      await store.suspensions.delete("c");
      demandSame(await store.suspensions.load("c"), null, "what was deleted");
    },
  },
];
