import { HarnessError } from "@harnesskit/wire";
import { ContractError, checkEqual } from "@harnesskit/wire/testing";
import { type Case, idsOf } from "./case.ts";
import { addRow, sampleContent, sampleRow } from "./samples.ts";

/** How rows are added, found and changed. */
export const writeCases: Readonly<Record<string, Case>> = {
  "a row is there after it was written, with its content": {
    async run({ store, other }) {
      const [row] = await store.write([addRow({}, "k")]);
      const again = await other();
      const found = await again.get(row?.id ?? 0);
      checkEqual(found?.row, row, "the row");
      checkEqual(found?.content, sampleContent, "the content");
      checkEqual(await again.get(99_999), undefined, "a row that is not there");
    },
  },
  "ids and sequence numbers grow": {
    async run({ store }) {
      const rows = await store.write([addRow(), addRow(), addRow()]);
      const [a, b, c] = rows;
      if (!a || !b || !c || !(a.id < b.id && b.id < c.id && a.seq < b.seq && b.seq < c.seq)) {
        throw new ContractError(`numbers do not grow: ${JSON.stringify(rows)}`);
      }
    },
  },
  "a key finds the newest open row, and no row that has ended": {
    async run({ store }) {
      const close = (outcome: string) =>
        store.write([
          {
            type: "change",
            find: { key: "k" },
            apply: ({ content }) => ({
              row: { state: "done", outcome },
              content: { ...content, output: { value: outcome, isCut: false } },
            }),
          },
        ]);
      const [first, second] = await store.write([addRow({}, "k"), addRow({}, "k"), addRow({}, "other")]);
      const [closed] = await close("one");
      checkEqual(closed?.id, second?.id, "the row that was closed first");
      checkEqual((await store.get(closed?.id ?? 0))?.content.output?.value, "one", "its output");
      checkEqual(
        idsOf((await store.page({ filter: { text: "one" } })).rows),
        [closed?.id],
        "rows with its outcome",
      );
      checkEqual((await close("two"))[0]?.id, first?.id, "the row that was closed next");
      checkEqual(await close("three"), [], "a close without an open row");
    },
  },
  "a row that is added and changed in one write keeps its content": {
    async run({ store }) {
      const [row] = await store.write([
        addRow({}, "k"),
        { type: "change", find: { key: "k" }, apply: () => ({ row: { state: "done" } }) },
      ]);
      const { row: kept, content } = (await store.get(row?.id ?? 0)) ?? {};
      checkEqual({ state: kept?.state, content }, { state: "done", content: sampleContent }, "the row");
    },
  },
  "a change without a row adds one, if it says so": {
    async run({ store }) {
      const row = sampleRow({ state: "done" });
      const [added] = await store.write([
        { type: "change", find: { key: "k" }, apply: () => undefined, orAdd: { row, content: {} } },
      ]);
      checkEqual(added?.state, "done", "the state of the row that was added");
    },
  },
  "an approval finds its row, also when it has ended, and a row can get another key": {
    async run({ store, other }) {
      const approval = { id: "apr_1", status: "pending", effect: "none", risk: "unknown" } as const;
      await store.write([addRow({ state: "waiting", approval }, "k1")]);
      await store.write([
        {
          type: "change",
          find: { approvalId: "apr_1" },
          key: "k2",
          apply: () => ({ row: { state: "running" } }),
        },
      ]);
      const again = await other();
      checkEqual(
        await again.write([{ type: "change", find: { key: "k1" }, apply: () => ({}) }]),
        [],
        "the former key",
      );
      const [done] = await again.write([
        { type: "change", find: { key: "k2" }, apply: () => ({ row: { state: "done" } }) },
      ]);
      checkEqual(done?.approval, approval, "the approval of the row");
      const [later] = await again.write([
        { type: "change", find: { approvalId: "apr_1" }, apply: () => ({ row: { state: "failed" } }) },
      ]);
      checkEqual(later?.id, done?.id, "the row of the approval");
    },
  },
  "all of a write is kept, or nothing": {
    async run({ store }) {
      const failing = store.write([
        addRow({}, "k"),
        {
          type: "change",
          find: { key: "k" },
          apply: () => {
            throw new HarnessError("on_purpose", "fails");
          },
        },
      ]);
      const error: unknown = await failing.catch((thrown: unknown) => thrown);
      checkEqual(HarnessError.isInstance(error) && error.code, "on_purpose", "the failure");
      checkEqual((await store.page()).rows, [], "rows after a write that failed");
      checkEqual(await store.sessions(), [], "sessions after a write that failed");
    },
  },
  "running rows that are lost become unknown, waiting ones stay": {
    async run({ store, clock }) {
      await store.write([
        addRow({ session: "a" }),
        addRow({ session: "a", state: "waiting" }),
        addRow({ session: "b" }),
      ]);
      const lost = await store.write([
        { type: "lose", of: { agent: "codex", session: "a" }, outcome: "gone" },
      ]);
      checkEqual(
        lost.map(({ state, outcome }) => [state, outcome]),
        [["unknown", "gone"]],
        "the lost rows",
      );
      clock.advance(1000);
      checkEqual(
        await store.write([{ type: "lose", beforeMs: 1, outcome: "late" }]),
        [],
        "rows changed before a time",
      );
      checkEqual(
        (await store.write([{ type: "lose", outcome: "restart" }])).length,
        1,
        "rows of all sessions",
      );
    },
  },
};
