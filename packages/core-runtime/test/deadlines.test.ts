import { createManualClock } from "@harnesskit/wire/testing";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Deadline, Deadlines } from "../src/deadlines.ts";

const entryOf = (id: number, fired: [number, number][], clock: { now(): number }): Deadline => ({
  dueAt: 0,
  position: -1,
  expired: () => fired.push([clock.now(), id]),
});

describe("deadlines", () => {
  it("fire once each, in the order of their times, whatever is set, moved and cleared", () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant("set" as const), id: fc.nat(20), inMs: fc.nat(100) }),
      fc.record({ kind: fc.constant("clear" as const), id: fc.nat(20) }),
      fc.record({ kind: fc.constant("advance" as const), byMs: fc.nat(60) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 100 }), (steps) => {
        const clock = createManualClock(0);
        const deadlines = new Deadlines(clock);
        const fired: [number, number][] = [];
        const entries = Array.from({ length: 21 }, (_, id) => entryOf(id, fired, clock));
        const model = new Map<number, number>();
        for (const each of steps) {
          if (each.kind === "set") {
            deadlines.set(entries[each.id] as Deadline, clock.now() + each.inMs);
            model.set(each.id, clock.now() + each.inMs);
          } else if (each.kind === "clear") {
            deadlines.clear(entries[each.id] as Deadline);
            model.delete(each.id);
          } else {
            const due = [...model].filter(([, at]) => at <= clock.now() + each.byMs);
            const before = fired.length;
            clock.advance(each.byMs);
            const now = fired.slice(before);
            expect(now.map(([, id]) => id).sort()).toEqual(due.map(([id]) => id).sort());
            expect(now.map(([at]) => at)).toEqual(due.map(([, at]) => at).sort((a, b) => a - b));
            for (const [id] of due) model.delete(id);
          }
          expect(deadlines.size).toBe(model.size);
        }
      }),
    );
  });

  it("use one timer, and none once they are closed", () => {
    const clock = createManualClock();
    const deadlines = new Deadlines(clock);
    const fired: [number, number][] = [];
    for (let id = 0; id < 1000; id++) deadlines.set(entryOf(id, fired, clock), clock.now() + 1000 - id);
    expect(clock.pending).toBe(1);
    clock.advance(500);
    expect([fired.length, clock.pending]).toEqual([500, 1]);
    deadlines.close();
    clock.advance(1000);
    expect([fired.length, clock.pending, deadlines.size]).toEqual([500, 0, 0]);
  });
});
