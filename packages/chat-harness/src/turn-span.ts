import type { Span, SpanStart } from "@harnesskit/wire/trace";
import type { TurnReport } from "./options.ts";

/** A turn of a conversation. */
export const turnSpan = (sessionId: string | null): SpanStart => ({
  name: "invoke_workflow chat",
  attributes: {
    "gen_ai.operation.name": "invoke_workflow",
    "gen_ai.workflow.name": "chat",
    "gen_ai.conversation.id": sessionId,
  },
  metric: "harness.chat.turn.duration",
  sessionId,
});

/** How a turn has ended; `category` is that of its error. */
export const recordTurn = (
  span: Span | undefined,
  path: TurnReport["path"],
  outcome: TurnReport["outcome"],
  category: string | undefined,
): void => {
  span?.set({
    "harness.chat.path": path,
    "harness.chat.outcome": outcome,
    "openarmature.error.category": category,
  });
  span?.fail(category);
};
