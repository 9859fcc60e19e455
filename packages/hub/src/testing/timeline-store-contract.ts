import { type Clock, HarnessError } from "@harnesskit/wire";
import {
  type ContractCase,
  ContractError,
  checkEqual,
  createManualClock,
  type ManualClock,
  type OpenedStore,
  runWithStore,
  type StoreContext,
} from "@harnesskit/wire/testing";
import type { TimelineLimits } from "../timeline/limits.ts";
import type { TimelineStore } from "../timeline/timeline-store.ts";
import { addRow, sampleContent, sampleRow } from "./samples.ts";

export interface TimelineSettings {
  readonly clock: Clock;
  readonly limits: Partial<TimelineLimits>;
}

/** A store that a case may do anything with. */
export type OpenedTimelineStore = OpenedStore<TimelineStore>;

export interface TimelineContractOptions {
  /** The store's name; it begins each case's name. */
  readonly name: string;
  /** Opens an empty store with these settings, for each case. */
  readonly open: (settings: TimelineSettings) => OpenedTimelineStore | Promise<OpenedTimelineStore>;
}

interface Context extends StoreContext<TimelineStore> {
  readonly clock: ManualClock;
}

interface Case {
  readonly limits?: Partial<TimelineLimits>;
  run(context: Context): Promise<void>;
}

const idsOf = (rows: readonly { readonly id: number }[]) => rows.map(({ id }) => id);

const cases: Readonly<Record<string, Case>> = {
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
      checkEqual((await close("two"))[0]?.id, first?.id, "the row that was closed next");
      checkEqual(await close("three"), [], "a close without an open row");
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
  "pages go from the newest to the oldest without gap or repetition": {
    async run({ store }) {
      const rows = await store.write(Array.from({ length: 25 }, () => addRow()));
      const found: number[] = [];
      let beforeId: number | undefined;
      do {
        const page = await store.page({ beforeId, limit: 7 });
        found.push(...idsOf(page.rows));
        checkEqual(page.lastSeq, rows.at(-1)?.seq, "the last sequence number");
        beforeId = page.nextBeforeId;
      } while (beforeId !== undefined);
      checkEqual(found, idsOf(rows).reverse(), "the rows of all pages");
    },
  },
  "a filter lets the rows pass that fit all of its fields": {
    async run({ store }) {
      const decision = { decision: "block", source: "rule", rule: "no%_net", reason: "No NETWORK" } as const;
      await store.write([
        addRow({ agent: "a", session: "x", turn: "t", tool: "bash", summary: "bash ls" }),
        addRow({ agent: "a", session: "y", state: "refused", decision, summary: "curl 100%_off" }),
        addRow({ agent: "b", state: "failed", outcome: "exit code 1", atMs: 5 }),
      ]);
      const count = async (filter: Parameters<TimelineStore["page"]>[0]) =>
        (await store.page(filter)).rows.length;
      const expected: [NonNullable<Parameters<TimelineStore["page"]>[0]>["filter"], number][] = [
        [{ agent: "a" }, 2],
        [{ agent: "a", session: "x" }, 1],
        [{ turn: "t" }, 1],
        [{ tool: "bash" }, 3],
        [{ decision: "block" }, 1],
        [{ rule: "no%_net" }, 1],
        [{ rule: "no" }, 0],
        [{ state: "failed" }, 1],
        [{ failedOnly: true }, 2],
        [{ failedOnly: true, agent: "b" }, 1],
        [{ text: "network" }, 1],
        [{ text: "100%_OFF" }, 1],
        [{ text: "100xx" }, 0],
        [{ text: "EXIT" }, 1],
        [{ untilMs: 6 }, 1],
        [{ sinceMs: 6 }, 2],
        [{ agent: "c" }, 0],
      ];
      for (const [filter, rows] of expected)
        checkEqual(await count({ filter }), rows, JSON.stringify(filter));
    },
  },
  "a page with a filter looks at a bounded number of rows, and goes on": {
    limits: { maxScan: 10 },
    async run({ store }) {
      await store.write([addRow({ tool: "rare" }), ...Array.from({ length: 25 }, () => addRow())]);
      let pages = 0;
      let found = 0;
      let beforeId: number | undefined;
      do {
        const page = await store.page({ filter: { tool: "rare" }, beforeId });
        pages++;
        found += page.rows.length;
        beforeId = page.nextBeforeId;
      } while (beforeId !== undefined);
      checkEqual(found, 1, "rows that were found");
      if (pages < 3) throw new ContractError(`${pages} pages looked at 26 rows, 10 each`);
    },
  },
  "changes are read in their order, after a number": {
    async run({ store }) {
      const [a, b] = await store.write([addRow({}, "a"), addRow({}, "b")]);
      await store.write([{ type: "change", find: { key: "a" }, apply: () => ({ row: { state: "done" } }) }]);
      checkEqual(idsOf(await store.changes(0)), [b?.id, a?.id], "all rows");
      checkEqual(idsOf(await store.changes(b?.seq ?? 0)), [a?.id], "rows after the second");
      checkEqual(idsOf(await store.changes(0, 1)), [b?.id], "the first change");
    },
  },
  "rows are read with their content, the oldest first": {
    async run({ store }) {
      const rows = await store.write([addRow({ atMs: 10 }), addRow({ atMs: 20 }), addRow({ atMs: 30 })]);
      const read = await store.read({ sinceMs: 15, untilMs: 31, afterId: 0, limit: 1 });
      checkEqual(
        read.map(({ row }) => row.id),
        [rows[1]?.id],
        "the first of them",
      );
      checkEqual(read[0]?.content, sampleContent, "its content");
      const rest = await store.read({ sinceMs: 15, untilMs: 30, afterId: rows[1]?.id ?? 0, limit: 9 });
      checkEqual(rest, [], "what is after the time");
    },
  },
  "sessions and rules are counted": {
    async run({ store, other }) {
      const { decision: _none, ...noted } = sampleRow({ atMs: 4, state: "noted", type: "session_start" });
      await store.write([
        addRow({ atMs: 1 }, "k"),
        addRow({ atMs: 2, state: "waiting" }, "w"),
        addRow({ atMs: 3, state: "refused", decision: { decision: "block", source: "default" } }),
        { type: "add", row: noted, content: sampleContent },
        addRow({ atMs: 5, agent: "b", session: "z" }),
      ]);
      await store.write([
        { type: "change", find: { key: "k" }, apply: () => ({ row: { state: "failed" } }) },
      ]);
      await store.write([{ type: "change", find: { key: "w" }, apply: () => ({ row: { state: "done" } }) }]);
      const again = await other();
      const [tally] = await again.sessions({ agent: "codex" });
      const { actions, failed, refused, waiting, workspace, firstSeenMs } = tally ?? {};
      checkEqual(
        { actions, failed, refused, waiting, workspace, firstSeenMs },
        { actions: 3, failed: 1, refused: 1, waiting: 0, workspace: "/repo", firstSeenMs: 1 },
        "the session",
      );
      checkEqual((await again.sessions()).length, 2, "the number of sessions");
      checkEqual((await again.sessions({ limit: 1 })).length, 1, "the number of sessions of a list");
      const rules = [...(await again.rules())].map(
        ({ kind, name, decision, hits }) => `${kind} ${name} ${decision} ${hits}`,
      );
      checkEqual(rules.sort(), ["default default block 1", "rule tests allow 3"], "the rules");
    },
  },
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

const runCase = async (open: TimelineContractOptions["open"], { limits = {}, run }: Case): Promise<void> => {
  const clock = createManualClock();
  const opened = await open({ clock, limits });
  await runWithStore(opened, (context) => run({ ...context, clock }));
};

/** The cases that every {@link TimelineStore} passes. */
export const timelineStoreContract = ({ name, open }: TimelineContractOptions): ContractCase[] =>
  Object.entries(cases).map(([title, each]) => ({
    name: `${name}: ${title}`,
    run: () => runCase(open, each),
  }));
