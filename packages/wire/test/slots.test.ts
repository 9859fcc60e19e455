import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Slots } from "../src/index.ts";

describe("slots", () => {
  it("hold what was added and not removed, whatever the order", () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.constant(-1), fc.nat(20)), { maxLength: 200 }), (steps) => {
        const slots = new Slots<{ id: number }>();
        const kept: { slot: number; value: { id: number } }[] = [];
        for (const [id, step] of steps.entries()) {
          if (step < 0 || kept.length === 0) {
            const value = { id };
            kept.push({ slot: slots.add(value), value });
          } else {
            const [gone] = kept.splice(step % kept.length, 1);
            if (gone) slots.remove(gone.slot);
          }
          expect(slots.size).toBe(kept.length);
          const ids = kept.map(({ value }) => value.id).sort((a, b) => a - b);
          expect([...slots].map((value) => value.id).sort((a, b) => a - b)).toEqual(ids);
        }
      }),
    );
  });

  it("may be emptied while they are gone through", () => {
    const slots = new Slots<{ slot: number }>();
    for (let count = 0; count < 5; count++) {
      const value = { slot: -1 };
      value.slot = slots.add(value);
    }
    let seen = 0;
    for (const { slot } of slots) {
      seen++;
      slots.remove(slot);
      slots.remove(slot);
    }
    expect([seen, slots.size]).toEqual([5, 0]);
  });
});
