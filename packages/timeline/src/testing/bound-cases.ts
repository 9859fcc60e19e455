import { HarnessError } from "@harnesskit/wire";
import { ContractError, checkEqual } from "@harnesskit/wire/testing";
import { type Case, idsOf } from "./case.ts";
import { addRow, sampleRow } from "./samples.ts";

/** What is removed, and what is refused. */
export const boundCases: Readonly<Record<string, Case>> = {
  "what is beyond the limits is removed, the oldest first": {
    limits: { maxRows: 10, retentionMs: 5000 },
    async run({ store, clock }) {
      const nowMs = clock.now();
      const rows = await store.write(Array.from({ length: 14 }, () => addRow({ atMs: nowMs })));
      checkEqual(await store.prune(), 4, "rows that were removed");
      checkEqual(idsOf((await store.page()).rows), idsOf(rows).reverse().slice(0, 10), "rows that are left");
      clock.advance(6000);
      checkEqual(await store.prune(), 10, "old rows that were removed");
      checkEqual((await store.page()).rows, [], "rows that are left after the retention");
      const [next] = await store.write([addRow()]);
      if ((next?.id ?? 0) <= (rows.at(-1)?.id ?? 0)) throw new ContractError("an id was given twice");
      await store.write([addRow({ atMs: clock.now() })]);

      checkEqual(await store.prune(), 1, "the row that is old, within the other limits");
    },
  },
  "sessions that were seen last stay": {
    limits: { maxRows: 1, maxNames: 1 },
    async run({ store, clock }) {
      const nowMs = clock.now();
      await store.write(["a", "b", "c"].map((session, index) => addRow({ session, atMs: nowMs + index })));
      checkEqual(await store.prune(), 2, "rows that were removed");
      const sessions = await store.sessions();
      checkEqual(
        sessions.map(({ session }) => session),
        ["c"],
        "sessions that are left",
      );
    },
  },
  "what is larger than the limit is removed, the oldest first": {
    limits: { maxBytes: 20_000 },
    async run({ store, clock }) {
      const content = { output: { value: "x".repeat(4000), isCut: false } };
      const add = () => ({ type: "add", row: sampleRow({ atMs: clock.now() }), content }) as const;
      await store.write(Array.from({ length: 10 }, add));
      const removed = await store.prune();
      if (removed < 5 || removed > 8) throw new ContractError(`${removed} of 10 rows were removed`);
    },
  },
  "calls after close are refused": {
    async run({ store }) {
      await store.close();
      for (const call of [store.write([addRow()]), store.page(), store.changes(0), store.prune()]) {
        const error: unknown = await call.catch((thrown: unknown) => thrown);
        checkEqual(HarnessError.isInstance(error) && error.code, "store_closed", "the refusal");
      }
      await store.close();
    },
  },
};
