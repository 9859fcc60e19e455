import type { ApprovalStore } from "@harnesskit/approvals";
import { approveBy, sampleQuestion, takeBy } from "@harnesskit/approvals/testing";
import { createManualClock } from "@harnesskit/wire/testing";

/** Options with which each run gives the same ids, times and numbers. */
export const fixedOptions = () => {
  let last = 0;
  return { clock: createManualClock(1_000_000), createId: (prefix: string) => `${prefix}_${++last}` };
};

const ask = (number: number) =>
  sampleQuestion({ origin: { callId: `c${number}` }, subject: { input: { command: `npm test ${number}` } } });

const recordOf = async (store: ApprovalStore, id: string) => {
  const record = await store.get(id);
  if (record === undefined) throw new TypeError(`${id} is missing`);
  return record;
};

/** Everything that a store of approvals writes, step by step. The ids are those of `fixedOptions`. */
export const approvalSteps: readonly ((store: ApprovalStore) => Promise<unknown>)[] = [
  (store) => store.ask(ask(1)),
  async (store) => {
    const always = { reach: "agent", input: { command: { startsWith: "npm test" } } } as const;
    await store.apply("apr_1", { ...approveBy(await recordOf(store, "apr_1")), always });
  },
  async (store) => store.apply("apr_1", takeBy(await recordOf(store, "apr_1"))),
  (store) => store.apply("apr_1", { type: "report", claimant: "hook-1", effect: "done" }),
  (store) => store.ask(ask(2)),
  (store) => store.revokeGrant("grant_2", "ada"),
];

/** All that a store holds. */
export const contentOf = async (store: ApprovalStore): Promise<unknown> => ({
  records: (await store.page()).records,
  grants: await store.grants(),
});
