import { createMemoryTimelineStore, type TimelineChange, type TimelineStore } from "@harnesskit/timeline";
import { sampleRow } from "@harnesskit/timeline/testing";
import { type Clock, systemClock } from "@harnesskit/wire";
import { expect, it, vi } from "vitest";
import { Recorder } from "../src/timeline/recorder.ts";

/** A recorder over a disk that is full while `isFull`, or whenever a row with this summary is written; its waits are short. */
const openRecorder = (maxWaiting = 10) => {
  const rows = createMemoryTimelineStore();
  const disk = { isFull: false, refused: "" };
  const store: TimelineStore = Object.assign(Object.create(rows) as TimelineStore, {
    async write(changes: readonly TimelineChange[]) {
      const isRefused = changes.some(
        (change) => change.type === "add" && change.row.summary === disk.refused,
      );
      if (disk.isFull || isRefused) throw new Error("the disk is full");
      return rows.write(changes);
    },
  });
  const errors: unknown[] = [];
  const clock: Clock = {
    now: () => 0,
    elapsedMs: systemClock.elapsedMs,
    after: (delayMs, callback) => systemClock.after(Math.min(delayMs, 1), callback),
  };
  const onError = (error: unknown) => errors.push(error);
  const recorder = new Recorder(store, { clock, hub: "hub", delayMs: 1, maxWaiting, onError });
  const summaries = async () => (await rows.page()).rows.map(({ summary }) => summary).reverse();
  return { recorder, disk, errors, summaries };
};
const add = (summary: string) => ({ type: "add", row: sampleRow({ summary }), content: {} }) as const;

it("keeps rows while the disk is full, in their order; beyond maxUnwritten one row says how many are missing", async () => {
  const { recorder, disk, errors, summaries } = openRecorder(3);
  disk.isFull = true;
  await expect(recorder.write(add("asked"))).rejects.toThrow("full");
  const outcome = recorder.keep(add("1"));
  await recorder.flush();
  for (const summary of ["2", "3", "4", "5"]) expect(recorder.note(add(summary))).toBeUndefined();
  await expect(recorder.write(add("asked"))).rejects.toThrow("full");
  expect(await summaries()).toEqual([]);
  disk.isFull = false;
  await outcome;
  const missing =
    "2 rows are missing: the store of the timeline was away or full since 1970-01-01T00:00:00.000Z";
  await vi.waitFor(async () => expect(await summaries()).toEqual(["1", "2", "3", missing]));
  expect(errors).toHaveLength(1);
});

it("drops a row that the store refuses although it takes others", async () => {
  const { recorder, disk, errors, summaries } = openRecorder();
  disk.refused = "bad";
  for (const summary of ["1", "bad", "2"]) await recorder.note(add(summary));
  await vi.waitFor(async () =>
    expect(await summaries()).toEqual(["1", "2", expect.stringMatching(/^1 rows are/)]),
  );
  expect(errors.length).toBeGreaterThan(0);
});

it("reports the rows that are lost where it is closed before the store is back", async () => {
  const { recorder, disk, errors } = openRecorder();
  disk.isFull = true;
  const outcome = recorder.keep(add("1"));
  outcome.catch(() => {});
  await recorder.close();
  await expect(outcome).rejects.toMatchObject({ code: "rows_lost" });
  expect(errors.at(-1)).toMatchObject({ code: "rows_lost", message: expect.stringContaining("1 rows") });
});
