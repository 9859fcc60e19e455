import type { EventBody } from "@harnesskit/protocol/threads";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../../../scripts/lib/nightly.ts";
import { EventBuffer } from "../src/event-queue.ts";
import { eventsOf } from "./sample-events.ts";

const turn = eventsOf("ses_1", "turn_1");
const approval = await turn.approvalRequested("req_1");

const drain = (buffer: EventBuffer): EventBody[] => {
  const all: EventBody[] = [];
  for (let event = buffer.shift(); event; event = buffer.shift()) all.push(event);
  return all;
};

const fill = (limits: { maxBufferedEvents: number; maxBufferedDeltaChars?: number }, events: EventBody[]) => {
  const buffer = new EventBuffer({ maxBufferedDeltaChars: 1000, ...limits });
  for (const event of events) buffer.push(event);
  return buffer;
};

describe("EventBuffer", () => {
  it("drops deltas over the limit, and counts them", () => {
    const other = eventsOf("ses_1", "turn_2");
    const events = [turn.delta("a", "1"), turn.delta("a", "2"), other.delta("a", "3")];
    expect(drain(fill({ maxBufferedEvents: 3 }, events))).toEqual(events);
    const full = fill({ maxBufferedEvents: 2 }, events);
    expect(full.droppedDeltas).toBe(1);
    expect(drain(full)).toEqual(events.slice(0, 2));
  });

  it("drops deltas before anything else, then items, and counts both", () => {
    const buffer = fill({ maxBufferedEvents: 2 }, [
      turn.delta("a", "1"),
      turn.delta("b", "2"),
      turn.delta("a", "3"),
      turn.itemStarted(turn.message("a", "")),
      turn.itemCompleted(turn.message("a", "x")),
      turn.itemCompleted(turn.message("b", "y")),
      approval,
      turn.completed(),
    ]);
    expect([buffer.droppedDeltas, buffer.droppedItems]).toEqual([3, 1]);
    expect(drain(buffer)).toEqual([
      turn.itemStarted(turn.message("a", "")),
      turn.itemCompleted(turn.message("a", "x")),
      approval,
      turn.completed(),
    ]);
  });

  it("bounds the text that waits, and takes more when it was read", () => {
    const buffer = fill({ maxBufferedEvents: 100, maxBufferedDeltaChars: 5 }, [
      turn.delta("a", "123"),
      turn.delta("a", "456"),
      turn.delta("a", "45"),
    ]);
    expect(buffer.droppedDeltas).toBe(1);
    expect(buffer.shift()).toEqual(turn.delta("a", "123"));
    buffer.push(turn.delta("a", "678"));
    expect(buffer.droppedDeltas).toBe(1);
    expect(drain(buffer)).toEqual([turn.delta("a", "45"), turn.delta("a", "678")]);
  });

  it("keeps the order, the limit and the account, whatever is pushed and read", () => {
    const item = fc.constantFrom("a", "b");
    const event = fc.oneof(
      { weight: 6, arbitrary: fc.tuple(fc.constant("delta"), item) },
      { weight: 2, arbitrary: fc.tuple(fc.constant("item"), item) },
      { weight: 1, arbitrary: fc.tuple(fc.constant("approval"), item) },
      { weight: 3, arbitrary: fc.tuple(fc.constant("read"), item) },
    );
    fc.assert(
      fc.property(fc.array(event, { maxLength: 300 }), fc.integer({ min: 1, max: 12 }), (steps, limit) => {
        const buffer = new EventBuffer({ maxBufferedEvents: limit, maxBufferedDeltaChars: 10_000 });
        // Each delta is one character that tells when it was pushed; each item carries the same in its text.
        const characterOf = (index: number) => String.fromCharCode(0x4e00 + index);
        const read: EventBody[] = [];
        let deltas = 0;
        let items = 0;
        steps.forEach(([kind, itemId], index) => {
          const mark = characterOf(index);
          if (kind === "read") {
            const next = buffer.shift();
            if (next) read.push(next);
          } else if (kind === "delta") {
            deltas++;
            buffer.push(turn.delta(itemId, mark));
          } else {
            items++;
            const marked = { ...approval, data: { ...approval.data, requestId: mark } };
            buffer.push(kind === "approval" ? marked : turn.itemCompleted(turn.message(itemId, mark)));
          }
          expect(buffer.size).toBeLessThanOrEqual(2 * limit);
        });
        read.push(...drain(buffer));
        expect(buffer.size).toBe(0);
        const marks = read.map((event) => {
          if (event.type === "item.delta") return event.data.delta;
          if (event.type === "approval.requested") return event.data.requestId;
          return event.type === "item.completed" && event.data.item.type === "assistant_message"
            ? (event.data.item.data?.text ?? "")
            : "";
        });
        const text = marks.join("");
        expect([...text]).toEqual([...text].sort());
        const readDeltas = read.map((event) => (event.type === "item.delta" ? event.data.delta.length : 0));
        expect(readDeltas.reduce((sum, count) => sum + count, 0) + buffer.droppedDeltas).toBe(deltas);
        expect(read.filter(({ type }) => type !== "item.delta").length + buffer.droppedItems).toBe(items);
        if (buffer.droppedItems > 0) expect(items).toBeGreaterThan(limit);
      }),
      { numRuns: runs(60) },
    );
  });
});
