import { ContractError, checkEqual } from "@harnesskit/wire/testing";
import type { SessionsRequest, TimelineStore } from "../timeline-store.ts";
import { type Case, idsOf } from "./case.ts";
import { addRow, sampleContent, sampleRow } from "./samples.ts";

/** How rows are listed and counted. */
export const readCases: Readonly<Record<string, Case>> = {
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
        [{ agent: "a", session: "y", text: "network" }, 1],
        [{ agent: "a", session: "x", text: "network" }, 0],
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
  "the rows of one session or turn are read with their content": {
    async run({ store }) {
      const rows = await store.write([
        addRow({ turn: "1" }),
        addRow({ session: "s2" }),
        addRow({ turn: "2" }),
        addRow({ agent: "b" }),
      ]);
      const read = async (turn?: string, afterId = 0) =>
        (await store.read({ of: { agent: "codex", session: "s1", turn }, afterId, limit: 9 })).map(
          ({ row }) => row.id,
        );
      checkEqual(await read(), [rows[0]?.id, rows[2]?.id], "the rows of the session");
      checkEqual(await read("2"), [rows[2]?.id], "those of a turn");
      checkEqual(await read(undefined, rows[0]?.id), [rows[2]?.id], "those after a row");
    },
  },
  "sessions are paged, those seen last first, and found by a time": {
    async run({ store }) {
      const changes = Array.from({ length: 12 }, (_, index) =>
        addRow({ session: `s${index}`, atMs: 100 * Math.floor(index / 3) }),
      );
      await store.write(changes);
      const found: string[] = [];
      for (let after: SessionsRequest["after"]; ; ) {
        const page = await store.sessions({ after, limit: 5 });
        found.push(...page.map(({ session }) => session));
        after = page.at(-1);
        if (after === undefined) break;
      }
      checkEqual(new Set(found).size, 12, "different sessions");
      checkEqual(found.length, 12, "sessions of all pages");
      const times = found.map((session) => Math.floor(Number(session.slice(1)) / 3));
      checkEqual(times, [...times].sort().reverse(), "their order");
      const count = async (request: SessionsRequest) => (await store.sessions(request)).length;
      checkEqual(await count({ session: "s3" }), 1, "sessions of a name");
      checkEqual(await count({ sinceMs: 200 }), 6, "sessions since");
      checkEqual(await count({ untilMs: 200 }), 6, "sessions that began before");
      checkEqual(await count({ sinceMs: 100, untilMs: 101, agent: "codex" }), 3, "sessions between");
      checkEqual(await count({ agent: "b" }), 0, "sessions of another agent");
    },
  },
  "a session has the title of its first prompt, and where its actions stand": {
    async run({ store, other }) {
      const prompt = (words: string) =>
        addRow({ type: "pre_prompt", tool: undefined, state: "done", summary: `pre_prompt: ${words}` });
      await store.write([addRow({}, "k"), prompt("fix the test")]);
      await store.write([prompt("and the next"), addRow({ state: "unknown" })]);
      const [tally] = await (await other()).sessions();
      const { title, running, unknown, actions } = tally ?? {};
      checkEqual(
        { title, running, unknown, actions },
        { title: "fix the test", running: 1, unknown: 1, actions: 4 },
        "the session",
      );
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
};
