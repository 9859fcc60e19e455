import type { NodeContext } from "@harnesskit/graph";
import type { ToolCall } from "@harnesskit/protocol/chat";
import type { JsonObject } from "@harnesskit/protocol/envelope";
import { callSafely } from "@harnesskit/wire";
import type { ChatGraphFields } from "./chat-state.ts";

/** What happens in a turn while it happens. */
export type ChatProgress =
  | { readonly type: "text" | "thinking"; readonly delta: string }
  /** The model failed, and is asked again or not. The reason is safe to show; it names the endpoint and what the provider said. */
  | { readonly type: "model_failed"; readonly reason: string; readonly isRetried: boolean }
  /** A summary stands for so many of the oldest messages and calls from here on; the session keeps them. */
  | {
      readonly type: "summarised";
      readonly text: string;
      readonly messages: number;
      readonly calls: number;
      /** What making it has used, as the provider counts it. */
      readonly inputTokens: number | undefined;
      readonly outputTokens: number | undefined;
    }
  | { readonly type: "call"; readonly call: ToolCall }
  /** `input` is what the tool is called with: what a person may have changed. */
  | { readonly type: "tool_started"; readonly call: ToolCall; readonly input: JsonObject }
  | { readonly type: "result"; readonly call: ToolCall; readonly content: string }
  /** Why the model stopped: `stop`, `length`, `tool-calls`, … */
  | {
      readonly type: "model_ended";
      readonly reason: string;
      /** As the provider counts them, where it does. */
      readonly inputTokens: number | undefined;
      readonly outputTokens: number | undefined;
      /** Of the input: what the provider read from its cache, and what it wrote to it. */
      readonly cacheReadTokens: number | undefined;
      readonly cacheWriteTokens: number | undefined;
    };

/** What happens in a turn, with the turn that it happens in. */
export type ChatEvent = ChatProgress & {
  readonly sessionId: string | null;
  readonly invocationId: string;
  /** Which call of the model in this turn it belongs to, from 1. */
  readonly step: number;
  /** What `send` or `signal` was called with, as it was given: whose turn this is. Empty where a turn goes on by itself. */
  readonly metadata: Readonly<Record<string, unknown>>;
};

export type ChatListener = (event: ChatEvent) => unknown;

export type Tell = (progress: ChatProgress) => void;

/** Returns what reports the progress of a turn to the listener, without waiting for it; what it throws is dropped. */
export const teller = (
  listener: ChatListener | undefined,
  { sessionId, invocationId, metadata }: NodeContext<ChatGraphFields>,
  step: number,
): Tell => {
  if (listener === undefined) return () => {};
  return (progress) =>
    callSafely(() => listener(Object.freeze({ ...progress, sessionId, invocationId, step, metadata })));
};
