import type { JsonObject, JsonValue } from "@harnesskit/protocol/envelope";
import { jsonDifference } from "@harnesskit/wire";
import { copyJson } from "@harnesskit/wire/json";
import { describeLeftover, readModification } from "../modification.ts";
import { type Judged, judge } from "./judge.ts";
import { type ShownMessages, showMessages, toPromptMessage } from "./shown-messages.ts";
import type { ReportOutcome, Supervision } from "./supervision.ts";
import { SupervisionError } from "./supervision-error.ts";

/** What would be sent to a model. */
export interface ModelRequest {
  readonly model: string;
  /** @default "unknown" */
  readonly provider?: string;
  /** JSON. */
  readonly messages: readonly unknown[];
  /** Names of the tools that the model may call. */
  readonly tools?: readonly string[] | undefined;
  readonly signal?: AbortSignal | undefined;
}

interface Shown<T> extends ShownMessages {
  readonly messages: readonly JsonValue[];
  readonly text: string;
  /** What the harness wants in place of the messages, as its reader returned it. */
  readonly wanted: T | undefined;
}

export const invalidPrompt = (reason: string): SupervisionError =>
  new SupervisionError("invalid_modification", reason, { eventType: "pre_prompt" });

const toMessages = (messages: readonly unknown[]): readonly JsonValue[] => {
  try {
    return copyJson(messages, { name: "messages" }) as readonly JsonValue[];
  } catch (cause) {
    throw new SupervisionError("unjudgeable", "the messages are not JSON", {
      eventType: "pre_prompt",
      cause,
    });
  }
};

/**
 * Asks the harness about a request of a model (`pre_prompt`). Gives the messages to send, with what `read` makes of them where the harness
 * has changed them (it throws what {@link invalidPrompt} makes for a change that cannot be applied), and what reports the answer
 * (`post_response`). Rejects with a {@link SupervisionError} where nothing may be sent.
 */
export const allowModelCall = async <T>(
  supervision: Supervision,
  { model, provider = "unknown", messages, tools = [], signal }: ModelRequest,
  read?: (wanted: readonly JsonValue[]) => T,
): Promise<{
  readonly messages: readonly JsonValue[];
  readonly wanted: T | undefined;
  readonly report: ReportOutcome;
}> => {
  const limits = { ...supervision.limits, oversizePrompt: supervision.options.oversizePrompt };
  const named: JsonObject = { model: { provider, id: model } };
  const subject: JsonObject = tools.length === 0 ? named : { ...named, tools: [...tools] };
  const show = (given: readonly JsonValue[], wanted?: T): Shown<T> => {
    const text = JSON.stringify(given);
    return { messages: given, text, wanted, ...showMessages(text, subject, limits) };
  };
  const judged: Judged<Shown<T>> = {
    eventType: "pre_prompt",
    toPayload: ({ payload }) => payload,
    toMessage: ({ text }) => toPromptMessage(text, { provider, modelId: model }),
    async modify(value, modified) {
      if (!value.isWhole)
        throw invalidPrompt("the harness saw a part of the prompt, and cannot replace all of it");
      const change = readModification(value.payload, modified, "prompt");
      if ("leftover" in change) throw invalidPrompt(describeLeftover(change.leftover, "prompt"));
      const { wanted } = change;
      if (!Array.isArray(wanted) || wanted.length === 0)
        throw invalidPrompt("prompt is not a list of messages");
      return jsonDifference(wanted, value.messages as JsonValue) ? show(wanted, read?.(wanted)) : value;
    },
  };
  const { value } = await judge(supervision, judged, show(toMessages(messages)), signal);
  const report = supervision.startReport("post_response", named);
  return { messages: value.messages, wanted: value.wanted, report };
};
