import type { Turn as TurnData, Usage } from "@harnesskit/protocol/threads";
import { agentSpan, readTraceContext, type Span, startSpan, type TraceContext } from "@harnesskit/wire/trace";
import type { Ending } from "./close-open-items.ts";
import type { JudgedCall } from "./turn-runner.ts";

/** A turn, as an observer knows it. */
export interface ObservedTurn {
  readonly threadId: string;
  readonly turnId: string;
  readonly directory: string;
  /** The name of the turn's agent. */
  readonly agent: string;
  /** True when an earlier server began it. */
  readonly isResumed: boolean;
}

/** How a turn ended. */
export interface ObservedEnd {
  readonly status: "completed" | "cancelled" | "error";
  /** A safe sentence, with `error`. */
  readonly error?: string;
  readonly code?: string;
  readonly usage?: Usage | undefined;
}

/**
 * Observes what turns do; it decides nothing. What it throws is reported and changes nothing. A turn that is left waiting
 * when the server closes has no end here.
 */
export interface TurnObserver {
  /** A turn was started; its prompt has not been judged yet. */
  turnStarted?(turn: ObservedTurn): void;
  /** The turn's prompt was allowed: its agent works now. */
  agentStarted?(turn: ObservedTurn): void;
  /** The agent has completed a message; reasoning is left out. */
  responded?(
    turn: ObservedTurn,
    message: { readonly text: string; readonly step?: number | undefined },
  ): void;
  /** An allowed call begins to run. */
  callStarted?(call: JudgedCall): void;
  /** The turn has ended. Called once for each turn. */
  turnEnded?(turn: ObservedTurn, end: ObservedEnd): void;
}

/**
 * Begins the span of a turn. One that an earlier server began goes on in its trace, and the link says where it was left.
 *
 * @param input what the user said
 * @param begun the turn as an earlier server began it
 * @param parent where a prompt that waited belongs; else the turn belongs to the active span
 */
export const startTurnSpan = (
  { threadId, turnId, agent, isResumed }: ObservedTurn,
  input: unknown,
  begun: TurnData | undefined,
  parent: TraceContext | undefined,
): Span | undefined => {
  const span = startSpan(() => {
    const left = readTraceContext(begun?._meta);
    const content = { "gen_ai.input.messages": input };
    return { ...agentSpan("server", threadId, agent), content, parent: left ?? parent, links: [left] };
  });
  span?.set({ "harness.turn.id": turnId, "harness.turn.is_resumed": isResumed });
  return span;
};

/** Ends it; without an ending, the turn was left to a later server. */
export const endTurnSpan = (
  span: Span | undefined,
  ending: Ending | undefined,
  usage: Usage | undefined,
): void => {
  span?.set({
    "harness.turn.status": ending?.status ?? "waiting",
    "gen_ai.usage.input_tokens": usage?.inputTokens,
    "gen_ai.usage.output_tokens": usage?.outputTokens,
  });
  span?.end(ending?.status === "error" ? ending : undefined);
};
