import type { TimelineRow } from "@harnesskit/protocol/hub";
import { ContractError, checkEqual } from "@harnesskit/wire/testing";
import type { TimelineChange, TimelineStore } from "../timeline-store.ts";
import { type Case, idsOf } from "./case.ts";
import { addRow } from "./samples.ts";

/** Reads on until nothing is new, as a watch does. */
const readOn = async (store: TimelineStore, seen: TimelineRow[]): Promise<void> => {
  for (;;) {
    const rows = await store.changes(seen.at(-1)?.seq ?? 0, 3);
    if (rows.length === 0) return;
    seen.push(...rows);
  }
};

/** What stores of the same storage see of each other. */
export const storesCases: Readonly<Record<string, Case>> = {
  "running rows of a store that is gone become unknown, those of an open one stay": {
    async run({ store, other, hasOther }) {
      const lose = { type: "lose", writer: "gone", outcome: "the hub is gone" } as const;
      await store.write([addRow({}, "running"), addRow({ state: "waiting" })]);
      checkEqual(await store.write([lose]), [], "its own rows");
      if (!hasOther) return;
      await store.close();
      const next = await other();
      await next.write([addRow({ session: "next" })]);
      const lost = await next.write([lose]);
      checkEqual(
        lost.map(({ session, state, outcome }) => [session, state, outcome]),
        [["s1", "unknown", "the hub is gone"]],
        "the lost rows",
      );
      checkEqual(await next.write([lose]), [], "rows that are lost once more");
      const [done] = await next.write([
        { type: "change", find: { key: "running" }, apply: () => ({ row: { state: "done" } }) },
      ]);
      checkEqual(done?.state, "done", "a lost row of which is heard later");
    },
  },
  "a store loses its own running rows, and those that others have changed for it": {
    async run({ store, other }) {
      const approval = { id: "apr_1", status: "approved", effect: "claimed", risk: "unknown" } as const;
      await store.write([addRow({ approval, state: "waiting" })]);
      await (await other()).write([
        {
          type: "change",
          find: { approvalId: "apr_1" },
          keepsWriter: true,
          apply: () => ({ row: { state: "running" } }),
        },
      ]);
      const lose = { type: "lose", of: { agent: "codex", session: "s1" }, writer: "own" } as const;
      const lost = await store.write([{ ...lose, outcome: "the agent is gone" }]);
      checkEqual(
        lost.map(({ state }) => state),
        ["unknown"],
        "the row that another store has changed",
      );
    },
  },
  "who reads on while several stores write misses no change": {
    async run({ store, other }) {
      const stores = [store, await other(), await other()];
      const seen: TimelineRow[] = [];
      let isWriting = true;
      const reading = (async () => {
        while (isWriting) await readOn(store, seen);
      })();
      const written = await Promise.all(
        stores.map(async (each, index) => {
          const rows: TimelineRow[] = [];
          for (let round = 0; round < 8; round++) {
            const key = `${index}-${round}`;
            rows.push(...(await each.write([addRow({ session: String(index) }, key)])));
            if (round % 2 === 0) continue;
            const close: TimelineChange = {
              type: "change",
              find: { key },
              apply: () => ({ row: { state: "done" } }),
            };
            rows.push(...(await each.write([close])));
          }
          return rows;
        }),
      );
      isWriting = false;
      await reading;
      await readOn(store, seen);
      const seqs = seen.map(({ seq }) => seq);
      if (seqs.some((seq, index) => index > 0 && seq <= (seqs[index - 1] ?? 0))) {
        throw new ContractError(`changes are not in their order: ${seqs.join()}`);
      }
      const newest = new Map(written.flat().map((row) => [row.id, row]));
      for (const row of seen) {
        if (row.seq === newest.get(row.id)?.seq) newest.delete(row.id);
      }
      checkEqual(idsOf([...newest.values()]), [], "rows whose last change was not seen");
    },
  },
};
