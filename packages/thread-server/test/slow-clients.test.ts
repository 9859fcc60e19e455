import type { Event } from "@harnesskit/protocol/threads";
import { createDeferred } from "@harnesskit/wire";
import { createMemoryPair } from "@harnesskit/wire/testing";
import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { runs } from "../../../test-kit/nightly.ts";
import { EventOutbox } from "../src/event-outbox.ts";
import type { ThreadServer, TurnRunner } from "../src/index.ts";
import { resolveSettings } from "../src/server-settings.ts";
import { RawClient } from "./support/raw-client.ts";
import { openServer } from "./support/serve.ts";

const ids = { threadId: "ses_1", turnId: "turn_1" };

/** A log in which items are started, streamed to and completed, in any interleaving. */
const logs = fc
  .array(
    fc.record({
      item: fc.integer({ min: 0, max: 3 }),
      size: fc.integer({ min: 1, max: 300 }),
      end: fc.boolean(),
    }),
    {
      maxLength: 60,
    },
  )
  .map((steps): Event[] => {
    const text = new Map<string, string>();
    const lives = [0, 0, 0, 0];
    const bodies: Pick<Event, "type" | "data">[] = [];
    const item = (name: string) => ({
      itemId: `item_${name}`,
      type: "assistant_message" as const,
      item: {
        ...ids,
        itemId: `item_${name}`,
        type: "assistant_message" as const,
        data: { text: text.get(name) ?? "" },
      },
    });
    for (const { item: number, size, end } of steps) {
      const name = `${number}_${lives[number]}`;
      if (!text.has(name)) {
        text.set(name, "");
        bodies.push({ type: "item.started", data: { ...ids, ...item(name) } });
      }
      const delta = String(number).repeat(size);
      text.set(name, text.get(name) + delta);
      bodies.push({
        type: "item.delta",
        data: { ...ids, itemId: `item_${name}`, type: "assistant_message", delta },
      });
      if (!end) continue;
      bodies.push({ type: "item.completed", data: { ...ids, ...item(name) } });
      lives[number] = (lives[number] ?? 0) + 1;
    }
    return bodies.map((body, index) => ({ seq: index + 1, time: 1, ...body }) as Event);
  });

/** What a reader knows after these events: the text of each item, and the order of all that is no delta. */
const stateOf = (events: readonly Event[]) => {
  const texts: Record<string, string> = {};
  const others: number[] = [];
  for (const event of events) {
    if (event.type === "item.delta") texts[event.data.itemId] += event.data.delta;
    else {
      others.push(event.seq);
      if (event.type === "item.started") texts[event.data.itemId] = "";
      if (event.type === "item.completed" && event.data.item.type === "assistant_message") {
        texts[event.data.itemId] = event.data.item.data?.text ?? "";
      }
    }
  }
  return { texts, others };
};

describe("the outbox", () => {
  it("of a client that reads whenever it likes ends in the same state, however small it is", async () => {
    await fc.assert(
      fc.asyncProperty(
        logs,
        fc.integer({ min: 1, max: 2000 }),
        fc.array(fc.integer({ min: 0, max: 5 }), { maxLength: 30 }),
        async (events, maxOutboxLength, reads) => {
          const written: Event[] = [];
          const heard: Event[] = [];
          const gates: (() => void)[] = [];
          const notify = (type: string, params: Record<string, unknown>) => {
            const { seq, time, ...data } = params;
            heard.push({ seq, time, type, data } as unknown as Event);
            return new Promise<void>((resolve) => gates.push(resolve));
          };
          const failures: unknown[] = [];
          const outbox = new EventOutbox(
            { notify },
            { close: async () => {} },
            {
              settings: resolveSettings({
                runner: { run: async () => {} },
                limits: { maxOutboxLength },
                onError: (error) => failures.push(error),
              }),
              async *events(_threadId, { afterSeq = 0 }) {
                for (const event of [...written]) if (event.seq > afterSeq) yield event;
              },
            },
          );
          for (const [index, event] of events.entries()) {
            written.push(event);
            outbox.push(event);
            for (let read = 0; read < (reads[index % (reads.length || 1)] ?? 0); read++) gates.shift()?.();
            await Promise.resolve();
          }
          for (let idle = 0; idle < 50; idle++) {
            for (const open of gates.splice(0)) open();
            await new Promise(setImmediate);
            if (gates.length > 0) idle = 0;
          }
          expect(failures).toEqual([]);
          expect(stateOf(heard)).toEqual(stateOf(events));
          const numbers = heard.map(({ seq }) => seq);
          expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));
        },
      ),
      { numRuns: runs(20) },
    );
  });
});

interface Heard {
  readonly method?: string;
  readonly id?: number;
  readonly params: { readonly seq: number; readonly turnId?: string };
}

/** A client that takes one message, and no other before `open`. */
const slowClient = (server: ThreadServer) => {
  const { client, server: side } = createMemoryPair();
  server.connect(side);
  const opened = createDeferred<void>();
  const heard: Heard[] = [];
  client.start({
    async message(message) {
      heard.push(message as Heard);
      await opened.promise;
    },
    error: () => {},
    close: () => {},
  });
  const ended = () =>
    heard.flatMap(({ method, params }) => (method === "turn.completed" ? [params.turnId] : []));
  return { client, heard, ended, open: () => opened.resolve() };
};

/** A runner that writes so many messages, each in so many parts. */
const talking = (parts: number, length: number): TurnRunner => ({
  async run(turn) {
    for (let index = 0; index < 40; index++) {
      const message = turn.message();
      for (let part = 0; part < parts; part++) {
        message.append("x".repeat(length));
        if (part % 10 === 0) await Promise.resolve();
      }
      await message.complete();
    }
  },
});

/** That the client has heard all of a log but deltas, in order. */
const expectHeard = (events: readonly Event[], heard: readonly Heard[]) => {
  const kept = events.filter(({ type }) => type !== "item.delta").map(({ seq }) => seq);
  const numbers = heard.flatMap(({ method, params }) => (method === undefined ? [] : [params.seq]));
  expect(numbers.filter((seq) => kept.includes(seq))).toEqual(kept);
};

describe("a client that does not read", () => {
  it("costs itself: the others hear everything at once, and it hears the rest when it reads again", async () => {
    const server = openServer({ runner: talking(50, 1000), limits: { maxOutboxLength: 10_000 } });
    const fast = RawClient.connect(server);
    const slow = slowClient(server);
    const threadId = await fast.createThread();
    await fast.runTurn(threadId);
    expect(slow.heard.length).toBeLessThan(200);
    slow.open();
    await vi.waitFor(() => expect(slow.ended()).toHaveLength(1));
    const events = await fast.events(threadId);
    expectHeard(events, slow.heard);
    expect(slow.heard.length).toBeLessThan(events.length + 1);
  });

  it.each([
    ["waits", 10_000_000],
    ["is parked", 10_000],
  ])("loses nothing that %s when it subscribes from here on", async (_how, maxOutboxLength) => {
    const server = openServer({ runner: talking(1, 20_000), limits: { maxOutboxLength } });
    const fast = RawClient.connect(server);
    const slow = slowClient(server);
    const threadId = await fast.createThread();
    const first = await fast.runTurn(threadId);
    expect(slow.ended()).toEqual([]);
    await slow.client.send({ jsonrpc: "2.0", id: 1, method: "thread.subscribe", params: { threadId } });
    // Answered by the time that a second turn is over; the answer waits with everything else.
    const second = await fast.runTurn(threadId);
    slow.open();
    const turns = [first, second].map(({ params }) => params.turnId);
    await vi.waitFor(() => expect(slow.ended()).toEqual(turns));
    expectHeard(await fast.events(threadId), slow.heard);
    expect(slow.heard.some(({ id }) => id === 1)).toBe(true);
  });
});
