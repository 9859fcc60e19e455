import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../../../test-kit/nightly.ts";
import { nextTurn } from "../../../test-kit/test-kit.ts";
import { createThreadServer, type ThreadStore } from "../src/index.ts";
import { createMemoryThreadStore } from "../src/memory-thread-store.ts";
import { leftOf, readAll } from "./support/failing-stores.ts";
import { heldRunner } from "./support/held-runner.ts";
import { RawClient } from "./support/raw-client.ts";

const maxQueuedTurns = 4;

type Step =
  | { readonly do: "start"; readonly whenBusy: "reject" | "queue" | "interrupt" }
  | { readonly do: "finish" | "cancel" | "restart" | "kill" }
  | { readonly do: "remove"; readonly index: number };

const steps = fc.array(
  fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({
        do: fc.constant("start" as const),
        whenBusy: fc.constantFrom("reject" as const, "queue" as const, "interrupt" as const),
      }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        do: fc.constantFrom("finish" as const, "cancel" as const, "restart" as const, "kill" as const),
      }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("remove" as const), index: fc.nat(5) }) },
  ),
  { minLength: 1, maxLength: 14 },
) as fc.Arbitrary<Step[]>;

/** What the queue is, in the simplest words. */
class Model {
  active: string | undefined;
  interrupting: string[] = [];
  waiting: string[] = [];
  /** The turns in the order in which they begin, and how each ended. */
  readonly begun: string[] = [];
  readonly ends = new Map<string, string>();

  get queue(): string[] {
    return [...this.interrupting, ...this.waiting];
  }

  begin(turnId: string): void {
    this.active = turnId;
    this.begun.push(turnId);
  }

  end(status: string): void {
    if (this.active) this.ends.set(this.active, status);
    this.active = undefined;
    const next = this.queue[0];
    if (next === undefined) return;
    this.remove(next);
    this.begin(next);
  }

  remove(turnId: string): void {
    this.interrupting = this.interrupting.filter((id) => id !== turnId);
    this.waiting = this.waiting.filter((id) => id !== turnId);
  }
}

const serve = (store: ThreadStore) => {
  const held = heldRunner();
  const server = createThreadServer({
    runner: held.runner,
    store,
    limits: { maxQueuedTurns, maxOpenBytes: 600 },
  });
  return { ...held, server, client: RawClient.connect(server) };
};

/** Waits until nothing happens by itself any more: the queue has no timers. */
const settle = () => nextTurn(30);

describe("the queue of a thread", () => {
  it("is what the model says after any steps, and each accepted prompt begins once or is dequeued once", async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (all) => {
        let store: ThreadStore = createMemoryThreadStore();
        let served = serve(store);
        const threadId = await served.client.createThread();
        const model = new Model();
        for (const step of all) {
          if (step.do === "start") {
            const { result, error } = await served.client.startTurn(threadId, "x", {
              whenBusy: step.whenBusy,
            });
            if (!model.active) {
              expect(result).toEqual({ turnId: expect.any(String) });
              model.begin(result.turnId);
            } else if (step.whenBusy === "reject" || model.queue.length === maxQueuedTurns) {
              expect(error?.code).toBe(-32002);
            } else {
              const list = step.whenBusy === "interrupt" ? model.interrupting : model.waiting;
              list.push(result.turnId);
              // An interruption may have begun before the answer was written.
              const position = model.queue.indexOf(result.turnId) + 1;
              if (step.whenBusy === "queue") expect(result.queued).toEqual({ position });
              if (step.whenBusy === "interrupt") model.end("cancelled");
            }
          } else if (step.do === "finish") {
            if (model.active) {
              await settle();
              served.finish(model.active);
              model.end("completed");
            }
          } else if (step.do === "cancel") {
            const { error } = await served.client.call("turn.cancel", { threadId });
            expect(error?.code).toBe(model.active ? undefined : -32003);
            if (model.active) model.end("cancelled");
          } else if (step.do === "remove") {
            const turnId = model.queue[step.index];
            const { error } = await served.client.call("turn.cancel", { threadId, turnId: turnId ?? "nope" });
            expect(error?.code).toBe(turnId ? undefined : -32003);
            if (turnId) {
              model.remove(turnId);
              model.ends.set(turnId, "dequeued");
            }
          } else {
            const before = step.do === "kill" ? await leftOf(store) : store;
            await served.server.close();
            store = before;
            served = serve(store);
            await settle();
            if (model.active) model.end("error");
          }
          await settle();
          const { result } = await served.client.call("queue.list", { threadId });
          expect(result.queued.map(({ turnId }: { turnId: string }) => turnId)).toEqual(model.queue);
          const { queued = 0 } = (await served.client.call("thread.get", { threadId })).result.thread;
          expect(queued).toBe(model.queue.length);
        }
        while (model.active) {
          served.finish(model.active);
          model.end("completed");
          await settle();
        }
        const events = await readAll(store.events(threadId));
        expect(events.flatMap((event) => (event.type === "turn.started" ? [event.data.turnId] : []))).toEqual(
          model.begun,
        );
        const ends = events.flatMap((event): [string, string][] => {
          if (event.type === "turn.completed") return [[event.data.turnId, event.data.status]];
          if (event.type === "turn.error") return [[event.data.turnId, "error"]];
          if (event.type === "turn.dequeued") return [[event.data.turnId, "dequeued"]];
          return [];
        });
        expect(new Map(ends)).toEqual(model.ends);
        expect(ends).toHaveLength(model.ends.size);
        await served.server.close();
      }),
      { numRuns: runs(30) },
    );
  });
});
