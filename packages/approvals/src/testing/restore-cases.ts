import { checkEqual } from "@harnesskit/wire/testing";
import { createMemoryApprovalStore } from "../memory-approval-store.ts";
import type { ApprovalCase } from "./approval-store-contract.ts";
import { approveBy, checkRefused, sampleQuestion, takeBy } from "./samples.ts";

/** How records of another store are taken over. */
export const restoreCases: Readonly<Record<string, ApprovalCase>> = {
  "records and grants of another store are as they were there, and go on": {
    async run({ store, other, clock }) {
      const source = createMemoryApprovalStore({ clock });
      const taken = (await source.ask(sampleQuestion())).record;
      await source.apply(taken.id, { ...approveBy(taken), always: { reach: "agent" } });
      await source.apply(taken.id, takeBy(taken));
      const waiting = (await source.ask(sampleQuestion({ subject: { input: { command: "ls" } } }))).record;
      const { records } = await source.page();
      const grants = await source.grants();
      checkEqual(await store.restore({ records, grants }), 3, "what was added");
      checkEqual(await store.restore({ records, grants }), 0, "what was added once more");
      const again = await other();
      for (const { seq: _, ...record } of records) {
        const { seq: __, ...found } = (await again.get(record.id)) ?? {};
        checkEqual(found, record, `the record ${record.id}`);
      }
      checkEqual(
        (await again.grants()).map(({ id }) => id),
        grants.map(({ id }) => id),
        "the grants",
      );
      checkEqual(
        (await again.apply(waiting.id, approveBy(waiting))).status,
        "approved",
        "an answer after it",
      );
      await checkRefused(
        again.apply(taken.id, takeBy(taken)),
        "already_taken",
        "a claim of what was claimed",
      );
      await source.close();
    },
  },
};
