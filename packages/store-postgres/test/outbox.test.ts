import { describe, expect, it, vi } from "vitest";
import type { OutboxMessage } from "../src/index.ts";
import { newSchema } from "./support/schema.ts";

const question = (callId: string) => ({
  origin: { agent: "a", session: "s", callId },
  subject: { tool: "bash", input: { command: callId } },
  rule: { id: "r", reason: "it runs a command" },
});

/** A handler that notes what it is given. */
const recorder = () => {
  const messages: OutboxMessage[] = [];
  const handler = async (message: OutboxMessage) => void messages.push(message);
  return { messages, handler, bodies: () => messages.map(({ body }) => body) };
};

describe("the outbox", () => {
  it("each message is sent by one of several processes, those of a key in their order", async () => {
    await using schema = await newSchema();
    const stores = await Promise.all([1, 2, 3].map(() => schema.open()));
    const sent: string[] = [];
    for (const { outbox } of stores) {
      void outbox.consume("mail", async ({ key, body }) => void sent.push(`${key} ${body}`));
    }
    const keys = ["a\u0000", "b", "c"];
    for (let number = 0; number < 10; number++) {
      await Promise.all(keys.map((key, index) => stores[index]?.outbox.add("mail", key, number)));
    }
    await stores[0]?.outbox.add("other topic", "a", 0);
    await vi.waitFor(() => expect(sent).toHaveLength(30));
    for (const key of keys) {
      const ofKey = sent.filter((each) => each.startsWith(`${key} `));
      expect(ofKey).toEqual(Array.from({ length: 10 }, (_, number) => `${key} ${number}`));
    }
    await vi.waitFor(async () =>
      expect(await schema.run("SELECT topic FROM store.outbox")).toEqual([{ topic: "other topic" }]),
    );
  });

  it("a message whose handler rejects is tried again, then kept as failed, and does not hold up later ones for ever", async () => {
    await using schema = await newSchema();
    const onError = vi.fn();
    const limits = { maxOutboxAttempts: 2, wakePollMs: 20 };
    const { outbox } = await schema.open({ limits, onError });
    await outbox.add("mail", "a", "first");
    await outbox.add("mail", "a", "second");
    const attempts: string[] = [];
    const ending = new AbortController();
    const consumed = outbox.consume(
      "mail",
      async ({ body, attempt }) => {
        attempts.push(`${body} ${attempt}`);
        if (body === "first") throw new TypeError("no route");
      },
      { signal: ending.signal },
    );
    await vi.waitFor(() => expect(attempts).toEqual(["first 1", "first 2", "second 1"]));
    ending.abort();
    await consumed;
    expect(onError.mock.calls.map(([error]) => error.message)).toEqual(["no route", "no route"]);
    const rows = await schema.run("SELECT body, failed_at IS NOT NULL AS failed FROM store.outbox");
    expect(rows).toEqual([{ body: '"first"', failed: true }]);
  });

  it("what a dead process was sending is sent by another when its time is over, and its late word changes nothing", async () => {
    await using schema = await newSchema();
    const limits = { outboxLeaseMs: 100, wakePollMs: 20 };
    const [slow, other] = [await schema.open({ limits }), await schema.open({ limits })];
    await slow.outbox.add("mail", "a", 1);
    let finish = () => {};
    let aborted = false;
    const began = vi.fn();
    const hang = async ({ attempt }: OutboxMessage, signal: AbortSignal) => {
      began(attempt);
      signal.addEventListener("abort", () => {
        aborted = true;
      });
      await new Promise<void>((resolve) => {
        finish = resolve;
      });
    };
    void slow.outbox.consume("mail", hang, { concurrency: 1 });
    await vi.waitFor(() => expect(began).toHaveBeenCalledWith(1));
    const { messages, handler } = recorder();
    const failing = vi.fn(async (message: OutboxMessage) => {
      await handler(message);
      throw new TypeError("no route");
    });
    void other.outbox.consume("mail", failing);
    await vi.waitFor(() => expect(messages.length).toBeGreaterThan(0));
    expect(messages[0]).toMatchObject({ key: "a", body: 1, attempt: 2 });
    expect(aborted).toBe(true);
    finish();
    await slow.close();
    expect(await schema.run("SELECT count(*)::int AS count FROM store.outbox")).toEqual([{ count: 1 }]);
  });

  it("a change of an approval leaves one notice with its state, written with it or not at all", async () => {
    await using schema = await newSchema();
    const store = await schema.open({ approvals: { notices: true, limits: { maxOpen: 2 } } });
    const { record } = await store.approvals.ask(question("c1"));
    await store.approvals.ask(question("c2"));
    await expect(store.approvals.ask(question("c3"))).rejects.toMatchObject({
      name: "ApprovalError",
      code: "store_full",
    });
    const { id, digest } = record;
    const answered = await store.approvals.apply(id, {
      type: "answer",
      decision: "reject",
      by: "ada",
      digest,
    });
    const { handler, bodies } = recorder();
    void store.outbox.consume("approvals", handler);
    await vi.waitFor(() => expect(bodies()).toHaveLength(2));
    // The first was not sent before the answer came, so it has the answer.
    expect(bodies()[0]).toEqual({ id, seq: answered.seq, status: "rejected", effect: "none" });
    expect(bodies()[1]).toMatchObject({ status: "pending" });
    await store.approvals.apply(id, { type: "take", claimant: "hook", digest });
    await vi.waitFor(() => expect(bodies()).toHaveLength(3));
    expect(bodies()[2]).toMatchObject({ id, status: "rejected" });
  });

  it("is bounded, refuses what is not valid, and ends with its store", async () => {
    await using schema = await newSchema();
    const store = await schema.open({ limits: { maxOutboxRows: 2 } });
    await store.outbox.add("mail", "a", 1);
    await store.outbox.add("mail", "a", 2);
    await expect(store.outbox.add("mail", "a", 3)).rejects.toMatchObject({
      name: "StoreError",
      code: "store_full",
    });
    await store.outbox.add("other", "a", 3);
    await expect(store.outbox.add("mail", "a", Number.NaN)).rejects.toMatchObject({
      code: "invalid_argument",
    });
    expect(() => store.outbox.consume("mail", async () => {}, { concurrency: 0 })).toThrow("concurrency");
    const consumed = store.outbox.consume("none", async () => {});
    await store.close();
    await consumed;
    await expect(store.outbox.add("mail", "a", 1)).rejects.toMatchObject({ code: "store_closed" });
  });
});
