import { digest } from "@harnesskit/wire";
import { checkEqual } from "@harnesskit/wire/testing";
import type { ApprovalCase } from "./approval-store-contract.ts";
import { approveBy, checkRefused, sampleQuestion, takeBy } from "./samples.ts";

/** What every store does with questions, answers, claims and outcomes. */
export const recordCases: Readonly<Record<string, ApprovalCase>> = {
  "a question is stored with the digest of its subject and read back unchanged": {
    async run({ store, other, clock }) {
      const subject = { tool: "b\u0000\u202e", input: { n: [1, null, { deep: "x" }] }, preview: "+a" };
      const { record, how } = await store.ask(sampleQuestion({ subject }));
      checkEqual(how, "created", "a new question");
      checkEqual(record.digest, await digest(subject), "the digest");
      checkEqual(
        [record.status, record.effect, record.createdAtMs],
        ["pending", "none", clock.now()],
        "the record",
      );
      checkEqual(await (await other()).get(record.id), record, "the record of another store");
      checkEqual(Object.isFrozen(record.subject.input), true, "frozen");
      checkEqual(await store.get("unknown"), undefined, "an unknown id");
    },
  },
  "of a hundred answers at once one counts, and the others learn which": {
    async run({ store, other }) {
      const { record } = await store.ask(sampleQuestion());
      const stores = [store, await other()];
      const answers = await Promise.allSettled(
        Array.from({ length: 100 }, async (_, index) => {
          const decision = index % 3 === 0 ? "reject" : "approve";
          const event = { ...approveBy(record, `human-${index}`), decision } as const;
          return (stores[index % 2] ?? store).apply(record.id, event);
        }),
      );
      const first = (await store.get(record.id))?.answer;
      checkEqual(answers.filter(({ status }) => status === "fulfilled").length, 1, "answers that count");
      for (const answer of answers) {
        if (answer.status === "fulfilled") checkEqual(answer.value.answer, first, "the answer that counts");
        else {
          const known = await checkRefused(
            Promise.reject(answer.reason),
            "already_answered",
            "another answer",
          );
          checkEqual(known?.answer, first, "the first answer, as others learn it");
        }
      }
    },
  },
  "a question that is the same as one for which another call waits is a new one": {
    async run({ store, other }) {
      const question = sampleQuestion({ origin: { callId: "c1" } });
      const { record } = await store.ask(question);
      const repeated = { ...question, origin: { ...question.origin, callId: "c2" } };
      const { record: next, how } = await (await other()).ask(repeated, { others: [record.id] });
      checkEqual([how, next.id === record.id], ["created", false], "the same question of another call");
      const third = { ...question, origin: { ...question.origin, callId: "c3" } };
      const found = await store.ask(third, { others: [next.id] });
      checkEqual([found.how, found.record.id], ["found", record.id], "the repeated question");
    },
  },
  "late, withdrawn, unknown answers and those to another subject are refused": {
    async run({ store, clock }) {
      const { record } = await store.ask(sampleQuestion({ answerWithinMs: 1000 }));
      const other = { ...record, digest: await digest("other") };
      await checkRefused(store.apply(record.id, approveBy(other)), "wrong_digest", "another digest");
      await checkRefused(store.apply("unknown", approveBy(record)), "not_found", "an unknown id");
      await checkRefused(
        store.apply(record.id, { type: "answer" } as never),
        "invalid_argument",
        "half an event",
      );
      clock.advance(1000);
      const late = await checkRefused(store.apply(record.id, approveBy(record)), "expired", "a late answer");
      checkEqual(late?.status, "expired", "the late record");
      const { record: next } = await store.ask(sampleQuestion());
      checkEqual(next.id === record.id, false, "a question after an expired one is new");
      await store.apply(next.id, { type: "withdraw", by: "agent", reason: "the turn has ended" });
      await checkRefused(
        store.apply(next.id, approveBy(next)),
        "withdrawn",
        "an answer to a withdrawn question",
      );
    },
  },
  "an approval is claimed by one claimant, and has one outcome": {
    async run({ store, other }) {
      const { record } = await store.ask(sampleQuestion());
      await checkRefused(store.apply(record.id, takeBy(record)), "not_answered", "a claim before the answer");
      await store.apply(record.id, approveBy(record));
      const stores = [store, await other()];
      const claims = await Promise.allSettled(
        Array.from({ length: 20 }, async (_, index) =>
          (stores[index % 2] ?? store).apply(record.id, takeBy(record, `hook-${index}`)),
        ),
      );
      checkEqual(claims.filter(({ status }) => status === "fulfilled").length, 1, "claims that succeed");
      const claimed = await store.get(record.id);
      checkEqual(claimed?.effect, "claimed", "the effect");
      const report = { type: "report", claimant: claimed?.taken?.by ?? "", effect: "done" } as const;
      const foreign = store.apply(record.id, { ...report, claimant: "a stranger" });
      await checkRefused(foreign, "not_claimant", "the report of another");
      checkEqual((await store.apply(record.id, report)).effect, "done", "the outcome");
      const second = store.apply(record.id, { ...report, effect: "failed" });
      await checkRefused(second, "already_reported", "a second outcome");
    },
  },
  "a claim without an outcome is ambiguous, and an approval that is not taken expires": {
    limits: { reportWithinMs: 1000, useWithinMs: 5000 },
    async run({ store, clock }) {
      const { record } = await store.ask(sampleQuestion());
      const { record: unused } = await store.ask(sampleQuestion({ origin: { callId: "c2", session: "s2" } }));
      for (const each of [record, unused]) await store.apply(each.id, approveBy(each));
      await store.apply(record.id, takeBy(record));
      clock.advance(1000);
      checkEqual((await store.get(record.id))?.effect, "ambiguous", "the effect");
      checkEqual(
        (await store.page({ effect: "ambiguous" })).records.length,
        1,
        "the page of ambiguous records",
      );
      clock.advance(4000);
      await checkRefused(store.apply(unused.id, takeBy(unused)), "expired", "a claim too late");
      const known = await store.apply(record.id, { type: "report", claimant: "hook-1", effect: "failed" });
      checkEqual(known.effect, "failed", "what the claimant says later");
    },
  },
  "a repeated question finds its record: the answer is there once": {
    async run({ store, other }) {
      const { record } = await store.ask(sampleQuestion());
      const again = () => other().then((each) => each.ask(sampleQuestion({ origin: { callId: "c2" } })));
      checkEqual(await again(), { record, how: "found" }, "the pending question");
      const approved = await store.apply(record.id, approveBy(record));
      checkEqual(await again(), { record: approved, how: "found" }, "the answered question");
      const taken = await store.apply(record.id, takeBy(record));
      checkEqual(
        await store.ask(sampleQuestion()),
        { record: taken, how: "found" },
        "the same call, replayed",
      );
      checkEqual((await again()).how, "created", "another call after the answer was taken");
      const elsewhere = await store.ask(sampleQuestion({ origin: { session: "s2" } }));
      checkEqual(elsewhere.how, "created", "another session");
      const changed = await store.ask(sampleQuestion({ subject: { input: { command: "npm publish" } } }));
      checkEqual(changed.how, "created", "the same call with another input");
    },
  },
};
