import type { Event } from "@harnesskit/protocol/threads";
import { createPeer } from "@harnesskit/wire/rpc";
import { createMemoryPair } from "@harnesskit/wire/testing";
import { expect, it, onTestFinished, vi } from "vitest";
import { EventOutbox } from "../src/event-outbox.ts";

const threadId = "ses_1";
const eventOf = (seq: number): Event => {
  const turn = { turnId: `turn_${seq}`, threadId, status: "running" as const, time: { started: 0 } };
  return { seq, time: seq, type: "turn.started", data: { threadId, turnId: turn.turnId, turn } };
};

const setUp = () => {
  const { client, server } = createMemoryPair();
  const told: number[] = [];
  createPeer(client, {
    notification: (_, params) => {
      told.push((params as { seq: number }).seq);
    },
  });
  const peer = createPeer(server, {});
  onTestFinished(() => peer.close());
  const log = [1, 2, 3].map(eventOf);
  const outbox = new EventOutbox({
    peer,
    maxLength: 1_000_000,
    async *read(_, afterSeq) {
      yield* log.filter(({ seq }) => seq > afterSeq);
    },
    onTooLarge: () => {},
    onFailure: (error) => {
      throw error;
    },
  });
  return { outbox, told };
};

it("sends an event once that is written while the past is read, and not before it is due", async () => {
  const { outbox, told } = setUp();
  // The log has number 3 already; its writer has not passed it on yet.
  outbox.replay(threadId, 0, 2);
  await vi.waitFor(() => expect(told.length).toBeGreaterThanOrEqual(2));
  expect(outbox.isParked).toBe(false);
  expect(told).toEqual([1, 2]);
  outbox.push(eventOf(3));
  outbox.push(eventOf(4));
  await vi.waitFor(() => expect(told.at(-1)).toBe(4));
  expect(told).toEqual([1, 2, 3, 4]);
});

it("sends an event once that was written before a replay and held until after the reply", async () => {
  const { outbox, told } = setUp();
  const release = outbox.hold();
  outbox.push(eventOf(3));
  await Promise.resolve();
  outbox.replay(threadId, 0, 3);
  release();
  await vi.waitFor(() => expect(told.at(-1)).toBe(3));
  await vi.waitFor(() => expect(outbox.isParked).toBe(false));
  expect(told).toEqual([1, 2, 3]);
});
