import type { Item, Thread } from "@harnesskit/protocol/threads";
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
  /** Told of each message when it is stored; not of reasoning. Must not throw. */
  readonly onResponse: (message: { readonly text: string; readonly step?: number }) => void;
}

/** What a runner sees of its turn. */
export const createTurnContext = ({
  turn,
  thread,
  state,
  request,
  calls,
  onResponse,
}: TurnContextOptions): TurnContext => ({
  ...request,
  thread,
  turn: turn.turn,
  signal: turn.signal,
  tools: calls.tools,
  history: state.history.filter(isGiven),
  message: (options = {}) => createMessageWriter(turn, options, onResponse),
  callTool: (call) => calls.call(call),
  artifact: async (artifact) => {
    const itemId = turn.newId("item");
    await turn.start("artifact", itemId, artifact);
    await turn.complete("artifact", itemId, artifact);
  },
  addUsage: (usage) => turn.addUsage(usage),
});

/** A prompt that was not allowed stays in the log, and out of what later turns are told. */
const isGiven = (item: Item): boolean => item.type !== "user_message" || !item.data?.withheld;

const createMessageWriter = (
  turn: ActiveTurn,
  options: { reasoning?: true; step?: number },
  onResponse: TurnContextOptions["onResponse"],
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
    async complete() {
      await turn.complete("assistant_message", itemId, { text, ...options });
      if (!options.reasoning)
        onResponse(options.step === undefined ? { text } : { text, step: options.step });
    },
  };
};
