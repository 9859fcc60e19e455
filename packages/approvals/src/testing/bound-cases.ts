import { checkEqual } from "@harnesskit/wire/testing";
import type { ApprovalCase } from "./approval-store-contract.ts";
import { approveBy, checkRefused, sampleQuestion, takeBy } from "./samples.ts";

const questionOf = (number: number, session = "s1") =>
  sampleQuestion({ origin: { session, callId: `c${number}` }, subject: { input: { number } } });

/** What every store does with pages, watchers and limits. */
export const boundCases: Readonly<Record<string, ApprovalCase>> = {
  "pages follow the changes": {
    limits: { maxPage: 2 },
    async run({ store }) {
      const asked = [];
      for (const number of [1, 2, 3]) asked.push((await store.ask(questionOf(number))).record);
      const [first, second, third] = asked;
      if (!first || !second || !third) return;
      const page = await store.page();
      checkEqual(page, { records: [first, second], nextSeq: second.seq }, "the first page");
      const approved = await store.apply(first.id, approveBy(first));
      const rest = await store.page({ afterSeq: page.nextSeq });
      checkEqual(
        rest,
        { records: [third, approved], nextSeq: approved.seq },
        "the rest, a changed record last",
      );
      checkEqual(await store.page({ afterSeq: rest.nextSeq }), { ...rest, records: [] }, "after the end");
      const ofStatus = await store.page({ status: "approved" });
      checkEqual(ofStatus, { records: [approved], nextSeq: approved.seq }, "by status");
      const ofSession = await store.page({ agent: "agent", session: "s2" });
      checkEqual(ofSession, { records: [], nextSeq: approved.seq }, "by session: past what does not fit");
      const full = await store.page({ status: "pending", limit: 1 });
      checkEqual(full, { records: [second], nextSeq: second.seq }, "a full page of a status");
      await checkRefused(store.page({ limit: 3 }), "invalid_argument", "a page too large");
      await checkRefused(store.page({ status: "open" as never }), "invalid_argument", "an unknown status");
    },
  },
  "a watcher sees each change in order, also of another process, and ends": {
    limits: { maxWatchers: 1 },
    async run({ store, other, clock }) {
      const { record } = await store.ask(questionOf(1));
      const ending = new AbortController();
      const watcher = store.watch({ signal: ending.signal });
      checkEqual((await watcher.next()).value, record, "what is there");
      await checkRefused(store.watch().next(), "store_full", "a watcher too many");
      const next = watcher.next();
      const beside = await other();
      const approved = await beside.apply(record.id, approveBy(record));
      const ticking = setInterval(() => clock.advance(1000), 5);
      try {
        checkEqual((await next).value, approved, "a change");
        const created = watcher.next();
        const { record: second } = await store.ask(questionOf(2));
        checkEqual((await created).value, second, "a new question");
        const { record: third } = await store.ask(questionOf(3));
        const withdrawn = await store.apply(third.id, { type: "withdraw", by: "agent" });
        checkEqual((await watcher.next()).value, withdrawn, "a record that has changed twice, once");
        const last = watcher.next();
        ending.abort();
        checkEqual((await last).done, true, "the end");
      } finally {
        clearInterval(ticking);
      }
      const another = store.watch({ afterSeq: Number.MAX_SAFE_INTEGER }).next();
      await store.close();
      checkEqual((await another).done, true, "the end of a closed store");
      await checkRefused(store.get(record.id), "store_closed", "a read after close");
      await checkRefused(store.ask(questionOf(3)), "store_closed", "a question after close");
    },
  },
  "open questions are bounded, in all and for each session": {
    limits: { maxOpen: 3, maxOpenPerSession: 2 },
    async run({ store }) {
      const { record } = await store.ask(questionOf(1));
      await store.ask(questionOf(2));
      await checkRefused(store.ask(questionOf(3)), "store_full", "a third of one session");
      await store.ask(questionOf(3, "s2"));
      await checkRefused(store.ask(questionOf(4, "s3")), "store_full", "a fourth in all");
      checkEqual((await store.ask(questionOf(1))).how, "found", "a repeated question needs no room");
      await store.apply(record.id, { type: "withdraw", by: "agent" });
      checkEqual((await store.ask(questionOf(4, "s3"))).how, "created", "after one has ended");
    },
  },
  "ended records go by age and by number, open ones stay": {
    limits: { maxRecords: 3, maxOpen: 2, retentionMs: 10_000 },
    async run({ store, clock }) {
      const { record: open } = await store.ask(questionOf(0));
      const ended = [];
      for (const number of [1, 2, 3]) {
        const { record } = await store.ask(questionOf(number));
        await store.apply(record.id, { ...approveBy(record), decision: "reject" });
        ended.push(record.id);
        clock.advance(1);
      }
      const kept = (await store.page()).records.map(({ id }) => id);
      checkEqual(kept, [open.id, ...ended.slice(1)], "the newest");
      clock.advance(10_000);
      await store.ask(questionOf(4));
      checkEqual((await store.page()).records.length, 2, "after the retention");
    },
  },
  "questions that are not valid or too large are refused": {
    limits: { maxQuestionBytes: 2000 },
    async run({ store }) {
      const large = sampleQuestion({ subject: { input: { text: "x".repeat(2000) } } });
      await checkRefused(store.ask(large), "too_large", "a large question");
      await checkRefused(store.ask({} as never), "invalid_argument", "half a question");
      const hidden = sampleQuestion({ subject: { input: JSON.parse('{"a":1,"__proto__":{"b":2}}') } });
      await checkRefused(store.ask(hidden), "invalid_argument", "a field that would not be shown");
      const broken = sampleQuestion({ subject: { input: { text: "\ud800" } } });
      await checkRefused(store.ask(broken), "invalid_argument", "a lone surrogate");
      const { record } = await store.ask(sampleQuestion());
      const note = store.apply(record.id, { ...approveBy(record), note: "x".repeat(70_000) });
      await checkRefused(note, "too_large", "a large event");
      const rejecting = { ...approveBy(record), decision: "reject", always: { reach: "agent" } } as const;
      await checkRefused(store.apply(record.id, rejecting), "invalid_argument", "a grant with a rejection");
      checkEqual(
        (await store.apply(record.id, approveBy(record))).status,
        "approved",
        "the question that is open",
      );
      checkEqual((await store.apply(record.id, takeBy(record))).effect, "claimed", "its claim");
    },
  },
};
