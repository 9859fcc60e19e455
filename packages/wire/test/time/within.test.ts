import { describe, expect, it } from "vitest";
import { createDeferred } from "../../src/index.ts";
import { createManualClock } from "../../src/testing/index.ts";
import { settleWithin, within } from "../../src/time/index.ts";

const never = () => new Promise<never>(() => {});
const name = "task.run";

describe("within", () => {
  it("gives the value of a promise or an operation, and leaves no timer and no listener", async () => {
    const clock = createManualClock();
    const { signal } = new AbortController();
    expect(await within(Promise.resolve(1), { name, timeoutMs: 10, clock, signal })).toBe(1);
    expect(await within(() => 2, { name, timeoutMs: 10, clock })).toBe(2);
    expect(clock.pending).toBe(0);
  });

  it("times out with request_timeout, aborts the operation and disposes of a late value", async () => {
    const clock = createManualClock();
    const late: number[] = [];
    const work = createDeferred<number>();
    let own: AbortSignal | undefined;
    const pending = within(
      (signal) => {
        own = signal;
        return work.promise;
      },
      { name, timeoutMs: 10, clock, onLate: (value) => late.push(value) },
    );
    clock.advance(9);
    expect(own?.aborted).toBe(false);
    clock.advance(1);
    await expect(pending).rejects.toMatchObject({ code: "request_timeout", method: name, timeoutMs: 10 });
    expect(own?.aborted).toBe(true);
    work.resolve(7);
    await work.promise;
    await expect.poll(() => late).toEqual([7]);
  });

  it("is cancelled by any of its signals with request_cancelled, whose cause is the reason", async () => {
    const abort = new AbortController();
    const clock = createManualClock();
    const pending = settleWithin(never, {
      name,
      timeoutMs: 10,
      clock,
      signal: [undefined, new AbortController().signal, abort.signal],
    });
    abort.abort("stop");
    expect(await pending).toMatchObject({
      status: "cancelled",
      error: { code: "request_cancelled", cause: "stop" },
    });
    expect(clock.pending).toBe(0);
  });

  it("does not start an operation that is cancelled or has no time", async () => {
    let started = 0;
    const work = () => ++started;
    expect((await settleWithin(work, { name, signal: AbortSignal.abort() })).status).toBe("cancelled");
    expect((await settleWithin(work, { name, timeoutMs: 0 })).status).toBe("timed_out");
    expect(started).toBe(0);
  });

  it("tells its own timeout from one of the work", async () => {
    const inner = () => within(never, { name: "inner", timeoutMs: 1 });
    expect((await settleWithin(inner, { name, timeoutMs: 1000 })).status).toBe("failed");
  });
});
