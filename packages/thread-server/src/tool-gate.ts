import type { JsonObject } from "@harnesskit/protocol/envelope";
import type { Judgement } from "./judgement.ts";
import type { JudgedCall, ToolOutcome } from "./turn-runner.ts";

/**
 * Codes of a block that nobody decided: there was no answer in time, or nobody to ask. The model is told so, and not that
 * a policy forbade it.
 */
export const undecidedCodes = { timeout: "gate.timeout", unavailable: "gate.unavailable" } as const;

/** What a gate decides about a call. A `judgement` is kept with the call's item. */
export type ToolVerdict =
  /** It runs. */
  | { readonly verdict: "allow"; readonly judgement?: Judgement }
  /** The user decides. */
  | { readonly verdict: "ask"; readonly reason?: string; readonly judgement?: Judgement }
  /** It does not run; the reason is shown and told to the model. */
  | {
      readonly verdict: "block";
      readonly reason: string;
      /** @default "tool.blocked" */
      readonly code?: string;
      readonly judgement?: Judgement;
    }
  /**
   * It runs with another input, which is prepared and judged again. Where the tool prepares anything but exactly this
   * input, such as one without a key that it does not know, the call is blocked (`gate.invalid_input`).
   */
  | {
      readonly verdict: "modify";
      readonly input: JsonObject;
      readonly reason?: string;
      readonly judgement?: Judgement;
    };

/** Who is asked before a tool runs and told afterwards. A gate that throws blocks the call. */
export interface ToolGate {
  before(call: JudgedCall, options: { signal: AbortSignal }): ToolVerdict | Promise<ToolVerdict>;
  /** Told once for each call that was judged, however it ended. What it throws is reported and changes nothing. */
  after?(call: JudgedCall, outcome: ToolOutcome): void | Promise<void>;
}

/** Reading passes; whatever writes or executes is asked about. */
export const askGate: ToolGate = {
  before: ({ tool }) => ({ verdict: tool.effects === "read" ? "allow" : "ask" }),
};
