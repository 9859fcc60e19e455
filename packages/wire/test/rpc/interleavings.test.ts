import fc from "fast-check";
import { expect, it } from "vitest";
import { runs } from "../../../../test-kit/nightly.ts";
import { nextTurn } from "../../../../test-kit/test-kit.ts";
import { type HarnessError, newlineCodec, ProtocolError } from "../../src/index.ts";
import { createPeer } from "../../src/rpc/index.ts";
import { createManualClock, createMemoryPair } from "../../src/testing/index.ts";

const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant("request" as const), work: fc.nat(5), by: fc.nat(1) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("notify" as const), by: fc.nat(1) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("cancel" as const), which: fc.nat(50) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("pass" as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("advance" as const), ms: fc.nat(120) }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constantFrom("close" as const, "kill" as const), by: fc.nat(1) }),
  },
);

/** Answers at once, later, with an error, by throwing what is no wire error, or not before the connection closes. */
const work = (kind: unknown, signal: AbortSignal): unknown => {
  switch (kind) {
    case 0:
      return "at once";
    case 1:
      return nextTurn().then(() => "later");
    case 2:
      throw new ProtocolError(-1, "own");
    case 3:
      return Promise.reject(new RangeError("internal"));
    case 4:
      return new Promise((resolve) => signal.addEventListener("abort", () => resolve("aborted")));
    default:
      return Promise.resolve({ nested: ["🚀"] });
  }
};

it("whatever happens in whatever order, every request settles exactly once, with a typed outcome", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 60 }),
      fc.infiniteStream(fc.integer({ min: 1, max: 40 })),
      async (steps, chunks) => {
        const clock = createManualClock();
        const chunkBytes = () => chunks.next().value ?? 1;
        const { client, server, clientWire, serverWire } = createMemoryPair({
          clock,
          chunkBytes,
          capacityBytes: 300,
          codec: newlineCodec(),
        });
        const handlers = {
          request: (_method: string, params: unknown, call: { signal: AbortSignal }) =>
            work((params as number[])[0], call.signal),
          notification: () => nextTurn(),
        };
        const options = { clock, requestTimeoutMs: 100, maxConcurrentCalls: 3, maxQueuedCalls: 4 };
        const peers = [createPeer(client, handlers, options), createPeer(server, handlers, options)] as const;
        const wires = [clientWire, serverWire] as const;
        const settled: number[] = [];
        const outcomes: unknown[] = [];
        const cancels: AbortController[] = [];
        const watch = (promise: Promise<unknown>) => {
          const index = settled.push(0) - 1;
          const once = (outcome: unknown) => {
            settled[index] = (settled[index] ?? 0) + 1;
            outcomes.push(outcome);
          };
          promise.then(once, once);
        };
        for (const each of steps) {
          if (each.kind === "pass") await nextTurn();
          else if (each.kind === "advance") clock.advance(each.ms);
          else if (each.kind === "cancel") cancels[each.which % Math.max(1, cancels.length)]?.abort();
          else {
            const peer = peers[each.by === 0 ? 0 : 1];
            if (each.kind === "close") void peer.close();
            else if (each.kind === "kill") wires[each.by === 0 ? 0 : 1].kill();
            else if (each.kind === "notify") void peer.notify("n").catch(() => {});
            else if (each.kind === "request") {
              const cancel = new AbortController();
              cancels.push(cancel);
              watch(peer.request("w", [each.work], { signal: cancel.signal }));
            }
          }
        }
        for (let round = 0; round < 5; round++) {
          await nextTurn();
          clock.advance(100);
        }
        await nextTurn();
        expect(settled).toEqual(settled.map(() => 1));
        const allowed = new Set([
          "connection_closed",
          "request_timeout",
          "request_cancelled",
          "protocol_error",
          "internal_error",
        ]);
        for (const outcome of outcomes) {
          if (outcome instanceof Error) expect(allowed).toContain((outcome as HarnessError).code);
        }
        await Promise.all([...peers.map((peer) => peer.close()), nextTurn().then(() => clock.advance(2000))]);
        clientWire.kill();
      },
    ),
    { numRuns: runs(40) },
  );
});
