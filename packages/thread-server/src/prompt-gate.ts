import type { InputPart, ModelRef } from "@harnesskit/protocol/threads";
import type { Judgement } from "./judgement.ts";

/** What a prompt is known by to a gate. */
export interface JudgedPrompt {
  readonly threadId: string;
  readonly turnId: string;
  /** The `user_message` item of the prompt. */
  readonly itemId: string;
  readonly directory: string;
  /** The name of the turn's agent. */
  readonly agent: string;
  readonly model?: ModelRef;
  readonly content: readonly InputPart[];
  /** The text of the content. */
  readonly text: string;
  /** Binds an answer to this content. */
  readonly digest: string;
}

/** What a gate decides about a prompt. A `judgement` is kept with the prompt's item. */
export type PromptVerdict =
  /** The model is given it. */
  | { readonly verdict: "allow"; readonly judgement?: Judgement }
  /** The user decides. */
  | { readonly verdict: "ask"; readonly reason?: string; readonly judgement?: Judgement }
  /** The turn ends with this reason, and the model is never given it. */
  | {
      readonly verdict: "block";
      readonly reason: string;
      /** @default "prompt.blocked" */
      readonly code?: string;
      readonly judgement?: Judgement;
    }
  /** The model is given this text in its place, once that was judged as well. Files stay. */
  | {
      readonly verdict: "modify";
      readonly text: string;
      readonly reason?: string;
      readonly judgement?: Judgement;
    };

/** Who is asked before the agent gets a prompt. A gate that throws blocks the prompt. */
export interface PromptGate {
  before(prompt: JudgedPrompt, options: { signal: AbortSignal }): PromptVerdict | Promise<PromptVerdict>;
}
