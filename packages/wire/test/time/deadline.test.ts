import { describe, expect, it } from "vitest";
import { createManualClock } from "../../src/testing/index.ts";
import { Deadlines, startDeadline } from "../../src/time/index.ts";

/** A deadline on a clock whose machine can sleep: time passes, and no timer is called until it wakes. */
const start = (delayMs: number) => {
  const clock = createManualClock();
  let sleptMs = 0;
  const expired: number[] = [];
  const elapsedMs = () => clock.elapsedMs() + sleptMs;
  const takeBack = startDeadline(delayMs, () => expired.push(elapsedMs()), {
    clock: { ...clock, elapsedMs },
  });
  const sleep = (ms: number) => {
    sleptMs += ms;
  };
  return { clock, expired, takeBack, sleep };
};

describe("startDeadline", () => {
  it("expires once at its time, whatever the system's clock is set to", () => {
    const { clock, expired } = start(120_000);
    clock.correct(3_600_000);
    clock.advance(119_999);
    clock.correct(-7_200_000);
    expect(expired).toEqual([]);
    clock.advance(1);
    clock.advance(500_000);
    expect(expired).toEqual([120_000]);
    expect(clock.pending).toBe(0);
  });

  it("never expires with Infinity, nor when it was taken back in a later part", () => {
    expect(start(Number.POSITIVE_INFINITY).clock.pending).toBe(0);
    const { clock, expired, takeBack } = start(30_000);
    clock.advance(15_000);
    takeBack();
    clock.advance(100_000);
    expect([expired, clock.pending]).toEqual([[], 0]);
  });

  it.each([2000, 30_000])("of %d ms gives the part again that was slept through", (delayMs) => {
    const { clock, expired, sleep } = start(delayMs);
    clock.advance(1000);
    sleep(3_600_000);
    clock.advance(delayMs - 1001);
    expect(expired).toEqual([]);
    clock.advance(10_001);
    expect(expired).toHaveLength(1);
  });

  it("expires also in a process that is late all the time", () => {
    const { clock, expired, sleep } = start(20_000);
    for (let turn = 0; turn < 4; turn++) {
      sleep(5000);
      clock.advance(10_000);
    }
    expect(expired).toHaveLength(1);
  });
});

/** Entries that are removed when they expire, on a clock whose machine can sleep. */
const startDeadlines = () => {
  const manual = createManualClock();
  let sleptMs = 0;
  const clock = { ...manual, elapsedMs: () => manual.elapsedMs() + sleptMs };
  const entries = new Set<{ name: string; dueMs: number }>();
  const expired: string[] = [];
  const deadlines = new Deadlines({
    clock,
    entries: () => entries,
    expired(entry) {
      entries.delete(entry);
      expired.push(`${entry.name} ${manual.elapsedMs()}`);
    },
  });
  const add = (name: string, delayMs: number) => {
    const entry = { name, dueMs: deadlines.dueAfter(delayMs) };
    entries.add(entry);
    return entry;
  };
  const sleep = (ms: number) => {
    sleptMs += ms;
  };
  return { manual, deadlines, entries, expired, add, sleep };
};

describe("Deadlines", () => {
  it("gives each entry up at its time, with one timer", () => {
    const { manual, expired, add } = startDeadlines();
    add("late", 25_000);
    add("never", Number.POSITIVE_INFINITY);
    manual.advance(1000);
    add("early", 2000);
    add("middle", 12_000);
    expect(manual.pending).toBe(1);
    manual.advance(60_000);
    expect(expired).toEqual(["early 3000", "middle 13000", "late 25000"]);
    expect(manual.pending).toBe(0);
  });

  it("counts the time of an entry that came after the machine slept from then on", () => {
    const { manual, expired, add, sleep } = startDeadlines();
    add("before", 60_000);
    manual.advance(5000);
    sleep(3_600_000);
    add("after", 3000);
    manual.advance(3000);
    expect(expired).toEqual(["after 8000"]);
    manual.advance(60_000);
    expect(expired).toEqual(["after 8000", "before 65000"]);
  });
});
