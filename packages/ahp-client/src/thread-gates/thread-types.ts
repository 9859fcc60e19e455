import type { JsonObject, JsonValue } from "@harnesskit/protocol/envelope";
import type { InputPart, ModelRef, Usage } from "@harnesskit/protocol/threads";
import type { HumanAnswer } from "../human-answer.ts";

/* What a thread server passes to its gates and its observer, as far as it is used here. `@harnesskit/thread-server`'s types fit. */

export interface ThreadPlace {
  readonly threadId: string;
  readonly turnId: string;
  readonly directory: string;
}

export interface ThreadCall extends ThreadPlace {
  readonly itemId: string;
  readonly tool: { readonly name: string; readonly id?: string | undefined };
  readonly input: JsonObject;
  /** What a human judges beside the input, such as a unified diff. */
  readonly preview?: string | undefined;
}

export interface ThreadCallOutcome {
  readonly status: "succeeded" | "failed" | "rejected" | "blocked" | "cancelled" | "unknown";
  readonly output?: JsonValue;
  readonly error?: string;
  readonly code?: string;
}

export interface ThreadPrompt extends ThreadPlace {
  readonly itemId: string;
  readonly agent: string;
  readonly model?: ModelRef | undefined;
  readonly content: readonly InputPart[];
  readonly text: string;
}

/** A further request to the model within a turn. */
export interface ThreadRequest extends ThreadPrompt {
  readonly step: number;
  readonly added?: JsonValue;
}

export interface ThreadTurn extends ThreadPlace {
  readonly agent: string;
  readonly isResumed: boolean;
}

export interface ThreadTurnEnd {
  readonly status: "completed" | "cancelled" | "error";
  readonly error?: string;
  readonly code?: string;
  readonly usage?: Usage | undefined;
}

/** Who decided, by which rule and why; safe text. */
export interface ThreadJudgement {
  readonly by: string;
  readonly rule?: string | undefined;
  readonly reason?: string | undefined;
}

/** A verdict about a call or a prompt; `Change` is what a modified one becomes. `human` is the answer of a human whom the harness asked. */
export type ThreadVerdict<Change> =
  | {
      readonly verdict: "allow";
      readonly judgement: ThreadJudgement;
      readonly human?: HumanAnswer | undefined;
    }
  | { readonly verdict: "ask"; readonly reason: string; readonly judgement: ThreadJudgement }
  | {
      readonly verdict: "block";
      readonly reason: string;
      readonly code: string;
      /** A human whom the harness asked said no, or did not answer in time. */
      readonly isRejection?: true | undefined;
      readonly judgement: ThreadJudgement;
      readonly human?: HumanAnswer | undefined;
    }
  | ({ readonly verdict: "modify"; readonly judgement: ThreadJudgement } & Change);
