import type { JsonObject } from "@harnesskit/protocol/envelope";
import type { JudgedCall, ToolOutcome } from "./turn-runner.ts";

/** What a gate decides about a call. */
export type ToolVerdict =
  /** It runs. */
  | { readonly verdict: "allow" }
  /** The user decides. */
  | { readonly verdict: "ask"; readonly reason?: string }
  /** It does not run; the reason is shown and told to the model. */
  | { readonly verdict: "block"; readonly reason: string; readonly code?: string }
  /** It runs with another input, which is prepared and judged again. */
  | { readonly verdict: "modify"; readonly input: JsonObject; readonly reason?: string };

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
