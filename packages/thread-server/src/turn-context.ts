import type { Thread } from "@harnesskit/protocol/threads";
import type { ActiveTurn } from "./active-turn.ts";
import type { ThreadState } from "./thread-state.ts";
import type { ToolCalls } from "./tool-calls.ts";
import type { MessageWriter, TurnContext, TurnRequest } from "./turn-runner.ts";

export interface TurnContextOptions {
  readonly turn: ActiveTurn;
  readonly thread: Thread;
  readonly state: ThreadState;
  readonly request: TurnRequest;
  readonly calls: ToolCalls;
}

/** What a runner sees of its turn. */
export const createTurnContext = ({
  turn,
  thread,
  state,
  request,
  calls,
}: TurnContextOptions): TurnContext => ({
  ...request,
  thread,
  turn: turn.turn,
  signal: turn.signal,
  tools: calls.tools,
  history: state.history,
  message: (options = {}) => createMessageWriter(turn, options),
  callTool: (call) => calls.call(call),
  artifact: async (artifact) => {
    const itemId = turn.newId("item");
    await turn.start("artifact", itemId, artifact);
    await turn.complete("artifact", itemId, artifact);
  },
  addUsage: (usage) => turn.addUsage(usage),
});

const createMessageWriter = (
  turn: ActiveTurn,
  options: { reasoning?: true; step?: number },
): MessageWriter => {
  const itemId = turn.newId("item");
  let text = "";
  // A turn that has ended refuses this too; the writer learns of it from `complete`.
  turn.start("assistant_message", itemId, { text, ...options }).catch(() => {});
  return {
    append(delta) {
      if (delta === "") return;
      text += delta;
      turn.delta("assistant_message", itemId, delta);
    },
    complete: () => turn.complete("assistant_message", itemId, { text, ...options }),
  };
};
