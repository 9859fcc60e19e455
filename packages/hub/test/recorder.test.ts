import { systemClock } from "@harnesskit/wire";
import { expect, it } from "vitest";
import { createMemoryTimelineStore } from "../src/index.ts";
import { addRow } from "../src/testing/samples.ts";
import { Recorder } from "../src/timeline/recorder.ts";

it("writes a change that comes as soon as the one before is kept", async () => {
  const store = createMemoryTimelineStore();
  const recorder = new Recorder(store, {
    clock: systemClock,
    delayMs: 60_000,
    maxWaiting: 10,
    onError: (error) => expect.unreachable(String(error)),
  });
  for (let count = 1; count <= 5; count++) await recorder.write(addRow());
  expect((await store.page()).rows).toHaveLength(5);
});
