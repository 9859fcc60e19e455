import type { JsonObject, JsonValue } from "@harnesskit/protocol/envelope";
import type { InputPart, ModelRef } from "@harnesskit/protocol/threads";
import type { JudgedCall, ToolOutcome } from "./turn-runner.ts";

/** What decided about a call or a prompt, and why. Kept with the item; shown, so safe text. */
export interface Judgement {
  /** Such as the policy and its name. */
  readonly by: string;
  /** The rule that decided. */
  readonly rule?: string | undefined;
  readonly reason?: string | undefined;
}

/** What was asked for, where a gate changed it. */
export interface Modification<Requested> extends Partial<Judgement> {
  readonly requested: Requested;
}

/** What an item says of its judgement. A block and an ask say their reasons in the item's `error` and the approval, too. */
export interface ItemJudgement<Requested> extends Judgement {
  readonly decision: "allow" | "ask" | "block";
  /** What was asked for before the last change; the item has what ran. */
  readonly modified?: Modification<Requested> | undefined;
}

/** What a gate decides in the end. A `judgement` is kept with the item. */
export type FinalVerdict =
  /** It happens. */
  | { readonly verdict: "allow"; readonly judgement?: Judgement | undefined }
  /** The user decides. */
  | {
      readonly verdict: "ask";
      readonly reason?: string | undefined;
      readonly judgement?: Judgement | undefined;
    }
  /** It does not happen; the user, and of a call the model, see the reason. */
  | {
      readonly verdict: "block";
      readonly reason: string;
      /** @default "tool.blocked" or "prompt.blocked"; "tool.rejected" or "prompt.rejected" for a human's */
      readonly code?: string | undefined;
      /** A human said no where the gate asked: a call is `rejected`, not `blocked`. @default false */
      readonly isRejection?: boolean | undefined;
      readonly judgement?: Judgement | undefined;
    };

/** It happens with a change, after that was judged as well. */
export type ModifyVerdict<Change> = Change & {
  readonly verdict: "modify";
  readonly reason?: string;
  readonly judgement?: Judgement;
};

/**
 * What a gate decides about a call. A changed input is prepared again; where the tool prepares anything but exactly this
 * input, such as one without a key that it does not know, the call is blocked (`gate.invalid_input`).
 */
export type ToolVerdict = FinalVerdict | ModifyVerdict<{ readonly input: JsonObject }>;

/** What a gate decides about a prompt. A changed text takes the place of the prompt's; files stay. A block ends the turn. */
export type PromptVerdict = FinalVerdict | ModifyVerdict<{ readonly text: string }>;

/** Judges a call before it runs, and is notified of its outcome. A gate that throws blocks the call. */
export interface ToolGate {
  /** Judges a call. `signal` aborts when the turn is cancelled; a promise that rejects blocks the call. */
  before(call: JudgedCall, options: { signal: AbortSignal }): ToolVerdict | Promise<ToolVerdict>;
  /** Called once for each call that was judged, however it ended. What it throws is reported and changes nothing. */
  after?(call: JudgedCall, outcome: ToolOutcome): void | Promise<void>;
}

/** What a prompt is known by to a gate. */
export interface JudgedPrompt {
  readonly threadId: string;
  readonly turnId: string;
  /** The `user_message` item of the prompt. */
  readonly itemId: string;
  readonly directory: string;
  /** The name of the turn's agent. */
  readonly agent: string;
  readonly model?: ModelRef | undefined;
  readonly content: readonly InputPart[];
  /** The text of the content. */
  readonly text: string;
  /** Binds an answer to this content. */
  readonly digest: string;
}

/** A further request to the model within a turn, about the same prompt. */
export interface JudgedRequest extends JudgedPrompt {
  /** Counted from 1: the request of the prompt itself is 0. */
  readonly step: number;
  /** What the model is given besides since the request before, as far as the runner says it. */
  readonly added?: JsonValue;
}

/** Judges a prompt before the agent receives it. A gate that throws blocks the prompt. */
export interface PromptGate {
  /**
   * Judges each further request to the model before it is made. `ask` counts only with a `judgement` that names its rule; a change is refused.
   * @default they are allowed
   */
  request?(request: JudgedRequest, options: { signal: AbortSignal }): PromptVerdict | Promise<PromptVerdict>;
  /** Judges the prompt of a turn. `signal` aborts when the turn is cancelled; a promise that rejects blocks the prompt. */
  before(prompt: JudgedPrompt, options: { signal: AbortSignal }): PromptVerdict | Promise<PromptVerdict>;
}

/**
 * Codes of a block without a decision: no answer in time, or no gate to ask. The model reads that, and not that
 * a policy forbade it.
 */
export const undecidedCodes = { timeout: "gate.timeout", unavailable: "gate.unavailable" } as const;

/** Reading passes; whatever writes or executes is asked about. */
export const askGate: ToolGate = {
  before: ({ tool }) => ({ verdict: tool.effects === "read" ? "allow" : "ask" }),
};
