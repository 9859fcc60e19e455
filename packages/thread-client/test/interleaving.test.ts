import type { EventBody } from "@harnesskit/protocol/threads";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../../../scripts/lib/nightly.ts";
import { collect, eventsOf } from "./sample-events.ts";
import { setUp } from "./scripted-server.ts";

type Step = { readonly start: string } | { readonly event: EventBody };

/** What a server sends about one turn: the answer that names it, then its events. */
const stepsOf = (threadId: string, turnId: string, texts: readonly string[], failed: boolean): Step[] => {
  const turn = eventsOf(threadId, turnId);
  return [
    { start: threadId },
    ...[
      turn.started(),
      turn.itemStarted(turn.message("item_1", "")),
      ...texts.map((text) => turn.delta("item_1", text)),
      turn.itemCompleted(turn.message("item_1", texts.join(""))),
      failed ? turn.failed("It broke", "broken") : turn.completed(),
    ].map((event) => ({ event })),
  ];
};

/** Merges sequences in the order that the numbers choose; each sequence keeps its own order. */
const interleave = (sequences: readonly Step[][], choices: readonly number[]): Step[] => {
  const left = sequences.map((steps) => [...steps]);
  const merged: Step[] = [];
  for (let index = 0; ; index++) {
    const open = left.filter(({ length }) => length > 0);
    const next = open[(choices[index % choices.length] ?? 0) % Math.max(1, open.length)]?.shift();
    if (!next) return merged;
    merged.push(next);
  }
};

describe("several turns at the same time", () => {
  it("give each turn its own events, in order, however they are mixed and cut", async () => {
    const turns = fc.array(
      fc.record({ texts: fc.array(fc.string(), { maxLength: 4 }), failed: fc.boolean() }),
      {
        minLength: 1,
        maxLength: 4,
      },
    );
    const choices = fc.array(fc.nat(), { minLength: 1, maxLength: 40 });
    const chunkBytes = fc.constantFrom(1, 7, 100, 100_000);
    await fc.assert(
      fc.asyncProperty(turns, choices, chunkBytes, fc.boolean(), async (plan, order, chunk, foreign) => {
        const scripts = plan.map(({ texts, failed }, index) =>
          stepsOf(`ses_${index}`, `turn_${index}`, texts, failed),
        );
        // Another client's turn on the first thread, in between.
        const others = foreign ? [stepsOf("ses_0", "turn_other", ["x", "y"], false).slice(1)] : [];
        const steps = interleave([...scripts, ...others], order);
        const replies = new Map<string, () => void>();
        let arrived = 0;
        await using setup = await setUp(
          {
            "thread.list": () => ({ threads: [] }),
            "turn.start": ({ threadId }, call, server) => {
              const index = String(threadId).replace("ses_", "");
              replies.set(String(threadId), () => call.reply({ turnId: `turn_${index}` }));
              if (++arrived === plan.length) {
                for (const step of steps) {
                  if ("start" in step) replies.get(step.start)?.();
                  else server.send(step.event);
                }
              }
              return new Promise(() => {});
            },
          },
          { memory: { chunkBytes: chunk } },
        );
        const { client, server } = setup;
        const all = client.events();
        const handles = await Promise.all(
          plan.map((_, index) => client.startTurn({ threadId: `ses_${index}`, input: "go" })),
        );
        for (const [index, handle] of handles.entries()) {
          const own = scripts[index]?.flatMap((step) => ("event" in step ? [step.event] : []));
          expect(await collect(handle)).toEqual(own);
          expect((await handle.result).status).toBe(plan[index]?.failed ? "error" : "completed");
        }
        await client.listThreads();
        all.close();
        expect(await collect(all)).toEqual(steps.flatMap((step) => ("event" in step ? [step.event] : [])));
        server.wire.kill();
      }),
      { numRuns: runs(20) },
    );
  });
});
