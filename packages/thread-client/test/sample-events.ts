import type { JsonObject } from "@harnesskit/protocol/envelope";
import type { EventBody, Item, ItemData, Thread, Turn, TurnStatus } from "@harnesskit/protocol/threads";
import { digest } from "@harnesskit/wire";

export const sampleThread = (threadId: string): Thread => ({
  threadId,
  title: "A thread",
  directory: "/repo",
  time: { created: 1, updated: 2 },
});

/** The events of one turn on one thread. */
export const eventsOf = (threadId: string, turnId: string) => {
  const ids = { threadId, turnId };
  const turn = (status: TurnStatus): Turn => ({
    ...ids,
    status,
    time: status === "running" ? { started: 1 } : { started: 1, completed: 2 },
  });
  const message = (itemId: string, text: string) =>
    ({ ...ids, itemId, type: "assistant_message", data: { text } }) as const satisfies Item;
  return {
    turn,
    message,
    started: (): EventBody => ({ type: "turn.started", data: { ...ids, turn: turn("running") } }),
    completed: (status: "completed" | "cancelled" = "completed"): EventBody => ({
      type: "turn.completed",
      data: { ...ids, status, turn: turn(status) },
    }),
    failed: (error: string, code: string): EventBody => ({
      type: "turn.error",
      data: { ...ids, error, code, turn: turn("error") },
    }),
    itemStarted: (item: Item): EventBody => ({
      type: "item.started",
      data: { ...ids, itemId: item.itemId, type: item.type, item },
    }),
    itemUpdated: (item: Item): EventBody => ({
      type: "item.updated",
      data: { ...ids, itemId: item.itemId, type: item.type, item },
    }),
    itemCompleted: (item: Item): EventBody => ({
      type: "item.completed",
      data: { ...ids, itemId: item.itemId, type: item.type, item },
    }),
    delta: (itemId: string, delta: string): EventBody => ({
      type: "item.delta",
      data: { ...ids, itemId, type: "assistant_message", delta },
    }),
    approval: (data: ItemData<"approval">, itemId = `item_${data.requestId}`): Item => ({
      ...ids,
      itemId,
      type: "approval",
      data,
    }),
    approvalRequested: async (
      requestId: string,
      { tool = "bash", input = { command: "ls" }, digest: claimed }: ApprovalSample = {},
    ): Promise<Extract<EventBody, { type: "approval.requested" }>> => ({
      type: "approval.requested",
      data: {
        ...ids,
        itemId: `item_${requestId}`,
        requestId,
        permission: tool,
        metadata: { tool, input, digest: claimed ?? (await digest({ tool, input })) },
      },
    }),
  };
};

interface ApprovalSample {
  readonly tool?: string;
  readonly input?: JsonObject;
  /** @default the right one */
  readonly digest?: string;
}

/** Reads everything until the end. */
export const collect = async <T>(events: AsyncIterable<T>): Promise<T[]> => {
  const all: T[] = [];
  for await (const event of events) all.push(event);
  return all;
};

/** What a promise is rejected with. */
export const failureOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => "nothing failed",
    (error: unknown) => error,
  );
