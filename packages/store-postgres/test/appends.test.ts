import { describe, expect, it } from "vitest";
import { event, readAll, thread } from "./support/samples.ts";
import { newSchema } from "./support/schema.ts";

const seqs = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

describe("appends of many threads at once", () => {
  it("each thread has all of its events in their order, also those that were not waited for", async () => {
    await using schema = await newSchema();
    const { threads } = await schema.open();
    const ids = Array.from({ length: 120 }, (_, index) => `ses_${index}`);
    await Promise.all(
      ids.map(async (id) => {
        await threads.create(thread(id));
        await threads.lease(id);
      }),
    );
    const appends = seqs(5).flatMap((seq) =>
      ids.map((id) => threads.append(id, [event(id, 2 * seq - 1), event(id, 2 * seq)], { flush: true })),
    );
    await Promise.all(appends);
    for (const id of ids) {
      expect((await readAll(threads.events(id))).map(({ seq }) => seq)).toEqual(seqs(10));
    }
  });

  it("a thread that was lost, and an event that the database refuses, do not concern the others", async () => {
    await using schema = await newSchema();
    const { threads } = await schema.open();
    const ids = ["ses_a", "ses_lost", "ses_gap", "ses_refused", "ses_b", "ses_c"];
    for (const id of ids) {
      await threads.create(thread(id));
      await threads.lease(id);
    }
    await schema.run("UPDATE store.threads SET lease_epoch = lease_epoch + 1 WHERE thread_id = 'ses_lost'");
    await schema.run(
      "ALTER TABLE store.thread_events ADD CHECK (thread_id <> 'ses_refused' OR body NOT LIKE '%refused%')",
    );
    const outcomes = await Promise.allSettled(
      ids.map((id) => threads.append(id, [event(id, id === "ses_gap" ? 2 : 1, "refused")], { flush: true })),
    );
    expect(outcomes.map(({ status }) => status)).toEqual([
      ...["fulfilled", "rejected", "rejected", "rejected", "fulfilled", "fulfilled"],
    ]);
    for (const outcome of outcomes) {
      if (outcome.status === "rejected") {
        expect(outcome.reason).toMatchObject({
          name: "ThreadStoreError",
          code: "store_failed",
          detail: "log_changed",
        });
      }
    }
    for (const id of ["ses_a", "ses_b", "ses_c"]) {
      expect((await readAll(threads.events(id))).map(({ seq }) => seq)).toEqual([1]);
    }
    for (const id of ["ses_lost", "ses_gap", "ses_refused"])
      expect(await readAll(threads.events(id))).toEqual([]);
  });
});
