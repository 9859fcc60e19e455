import type { EventBody, Item } from "@harnesskit/protocol/threads";
import { InvalidArgumentError } from "@harnesskit/wire";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../../../scripts/lib/nightly.ts";
import { createThreadView, reduceThread } from "../src/index.ts";
import { eventsOf, sampleThread } from "./sample-events.ts";

const turn = eventsOf("ses_1", "turn_1");

describe("a thread's view", () => {
  it("shows items in the order of their beginning, with their deltas, and what runs", () => {
    const view = createThreadView();
    const created: EventBody = {
      type: "thread.created",
      data: { threadId: "ses_1", thread: sampleThread("ses_1") },
    };
    for (const event of [created, turn.started(), turn.itemStarted(turn.message("a", "> "))])
      view.apply(event);
    view.apply(turn.delta("b", "first"));
    view.apply(turn.delta("a", "Hi "));
    view.apply(turn.delta("a", "there"));
    expect(view.state).toEqual({
      thread: sampleThread("ses_1"),
      items: [
        { item: turn.message("a", "> "), text: "> Hi there", completed: false, truncated: false },
        {
          item: { itemId: "b", threadId: "ses_1", turnId: "turn_1", type: "assistant_message" },
          text: "first",
          completed: false,
          truncated: false,
        },
      ],
      droppedItems: 0,
      openApprovals: [],
      queued: [],
      currentTurn: turn.turn("running"),
      lastTurn: undefined,
    });
    view.apply(turn.failed("It broke", "broken"));
    expect(view.state.currentTurn).toBeUndefined();
    expect(view.state.lastTurn).toEqual({
      status: "error",
      turn: turn.turn("error"),
      error: "It broke",
      code: "broken",
    });
  });

  it("opens an approval until its item is completed or its turn ends", async () => {
    const view = createThreadView();
    const [first, second] = [await turn.approvalRequested("req_1"), await turn.approvalRequested("req_2")];
    for (const event of [turn.started(), first, second]) view.apply(event);
    expect(view.state.openApprovals).toEqual([first.data, second.data]);
    const { permission, metadata, requestId } = first.data;
    view.apply(turn.itemCompleted(turn.approval({ requestId, permission, metadata, decision: "once" })));
    expect(view.state.openApprovals).toEqual([second.data]);
    view.apply(eventsOf("ses_1", "turn_0").completed());
    expect(view.state.openApprovals).toEqual([second.data]);
    expect(view.state.currentTurn).toEqual(turn.turn("running"));
    view.apply(turn.completed("cancelled"));
    expect(view.state.openApprovals).toEqual([]);
    expect(view.state.lastTurn).toEqual({ status: "cancelled", turn: turn.turn("cancelled") });
  });

  it.each(["itemUpdated", "itemStarted"] as const)(
    "shows a call that waits and then runs as one item, also of a server that starts it again (%s)",
    (again) => {
      const call = (command: string, status: "pending" | "running") =>
        ({
          itemId: "c",
          threadId: "ses_1",
          turnId: "turn_1",
          type: "tool_exec",
          data: { tool: "bash", input: { command }, status },
        }) satisfies Item;
      const view = createThreadView();
      view.apply(turn.itemStarted(call("ls", "pending")));
      expect(view.apply(turn[again](call("ls -l", "running")))).toBe(true);
      const item = call("ls -l", "running");
      expect(view.state.items).toEqual([{ item, text: "", completed: false, truncated: false }]);
      view.apply(turn.itemCompleted(item));
      expect(view.apply(turn[again](call("ls", "pending")))).toBe(false);
      expect(view.state.items).toMatchObject([{ item, completed: true }]);
    },
  );

  it("says what each kind of item says", () => {
    const of = <T extends Item["type"]>(type: T, data: unknown) =>
      ({ itemId: type, threadId: "ses_1", turnId: "turn_1", type, data }) as unknown as Item;
    const texts = (items: Item[]) =>
      reduceThread(items.map(turn.itemCompleted)).items.map(({ text }) => text);
    expect(
      texts([
        of("user_message", {
          content: [
            { type: "text", text: "Run it" },
            { type: "file", path: "a" },
          ],
        }),
        of("tool_exec", { tool: "bash", input: {}, status: "succeeded", output: "done" }),
        of("tool_log", { toolItemId: "t", stream: "stdout", text: "log" }),
        of("artifact", { kind: "file", path: "a", mimeType: "text/plain", sizeBytes: 1 }),
      ]),
    ).toEqual(["Run it", "done", "log", ""]);
    expect(texts([of("tool_exec", { tool: "bash", input: {}, status: "failed", error: "exit 1" })])).toEqual([
      "exit 1",
    ]);
    expect(texts([of("tool_exec", { tool: "t", input: {}, status: "succeeded", output: { a: 1 } })])).toEqual(
      [""],
    );
    expect(texts([of("assistant_message", undefined)])).toEqual([""]);
  });

  it("keeps to its thread, and to one object until something changes", () => {
    const view = createThreadView({ threadId: "ses_1" });
    expect(view.apply(eventsOf("ses_2", "turn_1").started())).toBe(false);
    const before = view.state;
    expect(before.currentTurn).toBeUndefined();
    expect(view.state).toBe(before);
    expect(view.apply(turn.itemCompleted(turn.message("a", "whole")))).toBe(true);
    expect(view.state).not.toBe(before);
    expect(before.items).toEqual([]);
    expect(view.apply(turn.delta("a", "late"))).toBe(false);
    expect(view.apply(turn.itemStarted(turn.message("a", "")))).toBe(false);
    expect(view.state.items).toMatchObject([{ text: "whole", completed: true }]);
    const first = createThreadView();
    first.apply(turn.started());
    expect(first.apply(eventsOf("ses_2", "turn_1").started())).toBe(false);
  });

  it("is bounded in items and in text", () => {
    expect(() => createThreadView({ maxItems: 0 })).toThrow(InvalidArgumentError);
    expect(() => createThreadView({ maxTextLength: 1.5 })).toThrow(InvalidArgumentError);
    const view = createThreadView({ maxItems: 2, maxTextLength: 4 });
    for (const itemId of ["a", "b", "c"]) view.apply(turn.delta(itemId, itemId));
    expect(view.apply(turn.delta("c", "12345"))).toBe(true);
    expect(view.apply(turn.delta("c", "6"))).toBe(false);
    expect(view.state.droppedItems).toBe(1);
    expect(view.state.items).toMatchObject([
      { text: "b", truncated: false },
      { text: "c123", truncated: true },
    ]);
    view.apply(turn.itemCompleted(turn.message("c", "end")));
    expect(view.state.items[1]).toMatchObject({ text: "end", truncated: false, completed: true });
  });

  it("ends the same with deltas as with the completed items alone", () => {
    const items = fc.array(
      fc.record({
        type: fc.constantFrom("assistant_message", "tool_log", "tool_exec"),
        started: fc.boolean(),
        deltas: fc.array(fc.string(), { maxLength: 5 }),
        text: fc.string(),
      }),
      { maxLength: 5 },
    );
    const dataOf = (type: string, text: string) =>
      type === "assistant_message"
        ? { text }
        : type === "tool_log"
          ? { toolItemId: "t", stream: "stdout", text }
          : { tool: "t", input: {}, status: "succeeded", output: text };
    fc.assert(
      fc.property(items, (plan) => {
        const streamed: EventBody[] = [];
        const completed: EventBody[] = [];
        plan.forEach(({ type, started, deltas, text }, index) => {
          const itemId = `item_${index}`;
          const ids = { threadId: "ses_1", turnId: "turn_1", itemId };
          const itemWith = (content: string) => ({ ...ids, type, data: dataOf(type, content) }) as Item;
          if (started) streamed.push(turn.itemStarted(itemWith("")));
          for (const delta of deltas) {
            streamed.push({ type: "item.delta", data: { ...ids, type: type as Item["type"], delta } });
          }
          streamed.push(turn.itemCompleted(itemWith(text)));
          completed.push(turn.itemCompleted(itemWith(text)));
        });
        expect(reduceThread(streamed)).toEqual(reduceThread(completed));
      }),
      { numRuns: runs(60) },
    );
  });
});
