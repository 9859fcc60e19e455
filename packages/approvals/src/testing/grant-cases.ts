import type { Always } from "@harnesskit/protocol/hub";
import { checkEqual } from "@harnesskit/wire/testing";
import type { ApprovalStore } from "../approval-store.ts";
import type { ApprovalCase } from "./approval-store-contract.ts";
import { approveBy, checkRefused, sampleQuestion, takeBy } from "./samples.ts";

const askFor = (store: ApprovalStore, command: string, origin: { session?: string; callId?: string } = {}) =>
  store.ask(sampleQuestion({ subject: { input: { command } }, origin: { session: "s2", ...origin } }));

const giveGrant = async (store: ApprovalStore, always: Always) => {
  const { record } = await store.ask(sampleQuestion());
  return store.apply(record.id, { ...approveBy(record), always });
};

/** What every store does with grants. */
export const grantCases: Readonly<Record<string, ApprovalCase>> = {
  "a grant is given with an answer, answers what it covers, and is listed": {
    async run({ store, other }) {
      const always = { reach: "agent", input: { command: { startsWith: "npm test" } } } as const;
      const given = await giveGrant(store, always);
      const [grant] = await (await other()).grants();
      checkEqual(
        [grant?.id, grant?.by, grant?.tool],
        [given.answer?.gaveGrantId, "ada", "bash"],
        "the grant",
      );
      const { record, how } = await askFor(await other(), "npm test -- --watch");
      checkEqual(
        [how, record.status, record.answer?.grantId],
        ["granted", "approved", grant?.id],
        "its answer",
      );
      checkEqual((await store.apply(record.id, takeBy(record))).effect, "claimed", "its claim");
      checkEqual((await askFor(store, "npm test; rm -rf /")).how, "created", "a command that goes on");
    },
  },
  "an exact grant of a session holds for this subject in this session": {
    async run({ store }) {
      await giveGrant(store, { reach: "session" });
      const same = await askFor(store, "npm test", { session: "s1", callId: "c2" });
      checkEqual(same.how, "found", "the answer that gave it is used first");
      await store.apply(same.record.id, takeBy(same.record));
      checkEqual(
        (await askFor(store, "npm test", { session: "s1", callId: "c2" })).how,
        "granted",
        "the next call",
      );
      checkEqual((await askFor(store, "npm test")).how, "created", "another session");
      checkEqual((await askFor(store, "npm tests", { session: "s1" })).how, "created", "another subject");
    },
  },
  "a grant of a workspace holds where its agent works there, in all sessions, and does not hold for a question without one":
    {
      async run({ store }) {
        const here = { directory: "/work/shop" };
        const { record } = await store.ask(sampleQuestion({ origin: here }));
        await store.apply(record.id, { ...approveBy(record), always: { reach: "workspace" } });
        await store.apply(record.id, takeBy(record));
        checkEqual((await store.grants())[0]?.directory, "/work/shop", "the grant's directory");
        const howIn = async (directory: string | undefined, session: string) =>
          (await store.ask(sampleQuestion({ origin: { session, callId: "c2", directory } }))).how;
        checkEqual(await howIn("/work/shop", "s2"), "granted", "another session there");
        checkEqual(await howIn("/work/shop/api", "s3"), "created", "a directory in it");
        checkEqual(await howIn(undefined, "s4"), "created", "no directory");
        const without = (await store.ask(sampleQuestion({ origin: { callId: "c5" } }))).record;
        await checkRefused(
          store.apply(without.id, { ...approveBy(without), always: { reach: "workspace" } }),
          "grant_mismatch",
          "a question that is in no workspace",
        );
      },
    },
  "a grant ends when it expires or is revoked, with the approvals that were not taken": {
    async run({ store, clock }) {
      const given = await giveGrant(store, { reach: "agent", forMs: 1000 });
      const id = given.answer?.gaveGrantId ?? "";
      const { record } = await askFor(store, "npm test");
      const revoked = await store.revokeGrant(id, "bob");
      checkEqual(revoked.revoked, { by: "bob", atMs: clock.now() }, "the revoked grant");
      checkEqual(await store.revokeGrant(id, "eve"), revoked, "revoked again");
      await checkRefused(store.revokeGrant("unknown", "bob"), "not_found", "an unknown grant");
      await checkRefused(store.apply(record.id, takeBy(record)), "withdrawn", "an approval that it gave");
      checkEqual((await store.get(given.id))?.status, "approved", "the answer of the human");
      checkEqual((await askFor(store, "npm test")).how, "created", "a question after the revocation");
      await store.apply(given.id, takeBy(given));
      const { record: again } = await store.ask(sampleQuestion({ origin: { callId: "c9" } }));
      await store.apply(again.id, { ...approveBy(again), always: { reach: "agent", forMs: 1000 } });
      const { record: granted } = await askFor(store, "npm test", { session: "s3" });
      clock.advance(1000);
      await checkRefused(
        store.apply(granted.id, takeBy(granted)),
        "expired",
        "an approval of an expired grant",
      );
      checkEqual((await askFor(store, "npm test", { session: "s4" })).how, "created", "after it has expired");
    },
  },
  "an answer whose grant is refused does not count": {
    limits: { maxGrants: 1 },
    async run({ store, clock }) {
      const { record } = await store.ask(sampleQuestion());
      const { record: cut } = await store.ask(
        sampleQuestion({ origin: { callId: "c2" }, subject: { preview: "+a\n[the diff is cut here]" } }),
      );
      const give = (to: typeof record, always: Always) => store.apply(to.id, { ...approveBy(to), always });
      const miss = give(record, { reach: "agent", input: { command: { is: "npm publish" } } });
      await checkRefused(miss, "grant_mismatch", "a pattern of another call");
      await checkRefused(give(cut, { reach: "agent" }), "preview_cut", "a cut preview");
      await give(record, { reach: "agent", forMs: 1000 });
      const { record: next } = await askFor(store, "npm publish");
      await checkRefused(give(next, { reach: "agent" }), "store_full", "a grant too many");
      checkEqual((await store.get(next.id))?.status, "pending", "the question stays open");
      clock.advance(1000);
      await give(next, { reach: "agent" });
      checkEqual((await store.grants()).length, 1, "grants that are over make room");
    },
  },
};
