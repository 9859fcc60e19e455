import { once } from "node:events";
import { Writable } from "node:stream";
import { describe, expect, it } from "vitest";
import { createLiveLog } from "../src/ahp/live-log.ts";

describe("the live log", () => {
  it("drops lines that nobody reads, and says how many", async () => {
    const written: string[] = [];
    let read: (() => void) | undefined;
    let isRead = false;
    const stream = new Writable({
      write(chunk, _encoding, done) {
        written.push(String(chunk));
        if (isRead) done();
        else read = done;
      },
    });
    const log = createLiveLog(stream as unknown as NodeJS.WriteStream);
    for (let count = 0; count < 3000; count++) log.say("x".repeat(1000));
    expect(stream.writableLength).toBeLessThan(1_100_000);
    const drained = once(stream, "drain");
    isRead = true;
    read?.();
    await drained;
    log.say("again");
    const kept = written.length - 1;
    expect(kept).toBeGreaterThan(1000);
    expect(written.at(-1)).toBe(
      `harness ahp: ${3000 - kept} lines are missing here: they were not read in time\nharness ahp: again\n`,
    );
    stream.destroy(new RangeError("the reader is gone"));
    log.say("to nobody");
    expect(written).toHaveLength(kept + 1);
  });
});
