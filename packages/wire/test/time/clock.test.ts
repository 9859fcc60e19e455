import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createDeferred, defaultWireLimits, randomId, systemClock } from "../../src/index.ts";

describe("systemClock", () => {
  beforeEach(() => void vi.useFakeTimers({ now: 1000 }));
  afterEach(() => void vi.useRealTimers());

  it("waits as long as it is asked, also beyond what a timer takes", () => {
    let fired = false;
    systemClock.after(2 ** 33, () => {
      fired = true;
    });
    vi.advanceTimersByTime(2 ** 33 - 1);
    expect(fired).toBe(false);
    vi.advanceTimersByTime(1);
    expect(fired).toBe(true);
  });

  it("counts elapsed milliseconds whatever the system's time is set to", () => {
    const startedMs = systemClock.elapsedMs();
    vi.setSystemTime(0);
    vi.advanceTimersByTime(50);
    expect(systemClock.now()).toBe(50);
    expect(systemClock.elapsedMs() - startedMs).toBe(50);
  });

  it("does not keep the process alive", () => {
    vi.useRealTimers();
    const before = process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
    const takeBack = systemClock.after(60_000, () => {});
    expect(process.getActiveResourcesInfo().filter((name) => name === "Timeout")).toHaveLength(before);
    takeBack();
  });
});

it("randomId gives ids with its prefix and 128 random bits", () => {
  const ids = Array.from({ length: 1000 }, () => randomId("ses"));
  for (const id of ids) expect(id).toMatch(/^ses_[0-9a-f]{32}$/);
  expect(new Set(ids).size).toBe(1000);
});

it("createDeferred gives a promise with its ends, whose rejection may be left alone", async () => {
  const kept = createDeferred<number>();
  kept.resolve(1);
  kept.resolve(2);
  await expect(kept.promise).resolves.toBe(1);
  const broken = createDeferred<number>();
  const reason = { why: "test" };
  broken.reject(reason);
  await expect(broken.promise).rejects.toBe(reason);
});

it("the default limits are those of the documentation", () => {
  expect(defaultWireLimits).toStrictEqual({
    maxFrameBytes: 4_194_304,
    maxDepth: 80,
    maxBufferedBytes: 16_777_216,
  });
});
