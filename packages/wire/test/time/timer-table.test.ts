import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createManualClock } from "../../src/testing/index.ts";
import { type TimerEntry, TimerTable } from "../../src/time/index.ts";

const entryOf = (id: number, fired: [number, number][], clock: { now(): number }): TimerEntry => ({
  dueAt: 0,
  expired: () => fired.push([clock.now(), id]),
});

describe("TimerTable", () => {
  it("fires each entry once, in the order of time, whatever is set, moved and cleared", () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant("set" as const), id: fc.nat(20), inMs: fc.nat(100) }),
      fc.record({ kind: fc.constant("clear" as const), id: fc.nat(20) }),
      fc.record({ kind: fc.constant("advance" as const), byMs: fc.nat(60) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 100 }), (steps) => {
        const clock = createManualClock(0);
        const table = new TimerTable(clock);
        const fired: [number, number][] = [];
        const entries = Array.from({ length: 21 }, (_, id) => entryOf(id, fired, clock));
        const model = new Map<number, number>();
        for (const each of steps) {
          if (each.kind === "set") {
            table.set(entries[each.id] as TimerEntry, clock.now() + each.inMs);
            model.set(each.id, clock.now() + each.inMs);
          } else if (each.kind === "clear") {
            table.clear(entries[each.id] as TimerEntry);
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
          expect(table.size).toBe(model.size);
        }
      }),
    );
  });

  it("uses one timer, and none once it is closed", () => {
    const clock = createManualClock();
    const table = new TimerTable(clock);
    const fired: [number, number][] = [];
    for (let id = 0; id < 1000; id++) table.set(entryOf(id, fired, clock), clock.now() + 1000 - id);
    expect(clock.pending).toBe(1);
    clock.advance(500);
    expect([fired.length, clock.pending]).toEqual([500, 1]);
    table.close();
    clock.advance(1000);
    expect([fired.length, clock.pending, table.size]).toEqual([500, 0, 0]);
  });
});
