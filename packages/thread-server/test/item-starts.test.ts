import type { Event } from "@harnesskit/protocol/threads";
import { expect, it } from "vitest";
import { createMemoryThreadStore } from "../src/memory-thread-store.ts";
import { overriding } from "./support/overriding.ts";
import { serve } from "./support/serve.ts";
import { recordingTool } from "./support/tools.ts";

/** The events of calls, each with the status that it says. */
const callsIn = (events: readonly { readonly type: string; readonly data: any }[]) =>
  events.flatMap(({ type, data }) => (data.type === "tool_exec" ? [[type, data.item.data.status]] : []));

it("a call that a human is asked about is created once, in the log and for clients, and is updated before it runs", async () => {
  const stored: Event[] = [];
  const inner = createMemoryThreadStore();
  const store = overriding(inner, {
    append: async (id, events, options) => {
      await inner.append(id, events, options);
      stored.push(...events);
    },
  });
  const storedAtRun: unknown[] = [];
  const bash = recordingTool("bash", "execute", async () => {
    storedAtRun.push(...callsIn(stored));
    return { ok: true };
  });
  const { client } = serve({ tools: [bash], store });
  const threadId = await client.createThread();
  const { result } = await client.startTurn(threadId);
  const { params } = await client.notification("approval.requested");
  await client.answer(params.requestId);
  await client.turnEnd(result.turnId);

  const begun = [
    ["item.started", "pending"],
    ["item.updated", "running"],
  ];
  expect(storedAtRun).toEqual(begun);
  expect(callsIn(client.told)).toEqual([...begun, ["item.completed", "succeeded"]]);
  const log: readonly Event[] = await client.events(threadId);
  expect(callsIn(log)).toEqual(callsIn(client.told));
});
