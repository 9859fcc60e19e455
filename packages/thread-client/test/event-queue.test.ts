import type { EventBody } from "@harnesskit/protocol/threads";
import type { HarnessError } from "@harnesskit/wire";
import { expect, it } from "vitest";
import { EventQueue } from "../src/event-queue.ts";
import { eventsOf } from "./sample-events.ts";

const turn = eventsOf("ses_1", "turn_1");
const reported: HarnessError[] = [];

const drain = (queue: EventQueue): EventBody[] => {
  const all: EventBody[] = [];
  for (let event = queue.shift(); event; event = queue.shift()) all.push(event);
  return all;
};

const fill = (limits: { maxBufferedEvents: number; maxBufferedDeltaChars?: number }, events: EventBody[]) => {
  const queue = new EventQueue({
    limits: { maxBufferedDeltaChars: 1000, ...limits },
    report: (error) => reported.push(error),
  });
  for (const event of events) queue.push(event);
  return queue;
};

it("drops deltas before anything else, then items, and counts and reports it", async () => {
  const approval = await turn.approvalRequested("req_1");
  const queue = fill({ maxBufferedEvents: 2 }, [
    turn.delta("a", "1"),
    turn.delta("b", "2"),
    turn.delta("a", "3"),
    turn.itemStarted(turn.message("a", "")),
    turn.itemCompleted(turn.message("a", "x")),
    turn.itemCompleted(turn.message("b", "y")),
    approval,
    turn.completed(),
  ]);
  expect([queue.droppedDeltas, queue.droppedItems]).toEqual([3, 1]);
  expect(reported).toMatchObject([{ code: "buffer_full", limitName: "maxBufferedEvents" }]);
  expect(drain(queue)).toEqual([
    turn.itemStarted(turn.message("a", "")),
    turn.itemCompleted(turn.message("a", "x")),
    approval,
    turn.completed(),
  ]);
});

it("bounds the text that waits, and takes more when it was read", () => {
  const queue = fill({ maxBufferedEvents: 100, maxBufferedDeltaChars: 5 }, [
    turn.delta("a", "123"),
    turn.delta("a", "456"),
    turn.delta("a", "45"),
  ]);
  expect(queue.droppedDeltas).toBe(1);
  expect(queue.shift()).toEqual(turn.delta("a", "123"));
  queue.push(turn.delta("a", "678"));
  expect(queue.droppedDeltas).toBe(1);
  expect(drain(queue)).toEqual([turn.delta("a", "45"), turn.delta("a", "678")]);
});
