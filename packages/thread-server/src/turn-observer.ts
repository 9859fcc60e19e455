import type { Usage } from "@harnesskit/protocol/threads";
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
