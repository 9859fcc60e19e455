import type { JsonValue } from "@harnesskit/protocol/envelope";
import type { ModelRef } from "@harnesskit/protocol/threads";
import { invalidParams, resolveAttachmentLimits } from "@harnesskit/wire";
import { type MediaPlace, mediaPlaceAt, toModelOutput } from "@harnesskit/wire/model";
import { createReplay } from "@harnesskit/wire/replay";
import type { FilePart, LanguageModel, ModelMessage, ToolResultPart } from "ai";
import { TurnError } from "../errors.ts";
import { checkAiSdkRunnerOptions } from "../option-names.ts";
import type { ToolRequest, TurnContext, TurnRunner } from "../turn-runner.ts";
import { type AttachmentOptions, readFiles } from "./attached-files.ts";
import { toModelMessages, toToolResult } from "./model-messages.ts";
import { streamStep } from "./stream-step.ts";

export interface AiSdkRunnerOptions {
  /**
   * The model, or what chooses it by the `model` of `turn.start` (undefined where none was given). A chooser throws a
   * `ProtocolError` -32602 for a model that it does not know; it is asked before a turn begins and again when it runs.
   */
  readonly model: LanguageModel | ((ref: ModelRef | undefined) => LanguageModel | Promise<LanguageModel>);
  /**
   * Characters of the conversation that the model is given, about: older tool outputs are left out first, then the oldest turns, with
   * a note to the model. A model whose provider says that its context is smaller is given less. @default 400000
   */
  readonly maxContextLength?: number | undefined;
  /**
   * Gives the model the files of a turn's input: images and PDFs as file parts, texts as text.
   * @default a turn with a file is refused with -32602, `data.reason` `attachments_unsupported`
   */
  readonly attachments?: AttachmentOptions | undefined;
  /** How often a call of the model is tried again when its provider fails. @default 2 */
  readonly maxRetries?: number | undefined;
  /** Receives a safe sentence for each attempt that failed and is repeated, with what the provider said. @default ignored */
  readonly onRetry?: ((reason: string) => void) | undefined;
}

/**
 * An agent on the Vercel AI SDK: calls the model, runs the tools it asks for through the server's gate and approvals,
 * and goes on until it asks for none. Text and reasoning are streamed as `assistant_message` items, usage is reported
 * with the turn's end. Ends with a `TurnError` `step_limit` after the profile's `maxSteps`, `model_…` for a model
 * that fails, or `attachment_…` for a file that does not reach it. What the model is sent is valid
 * for any provider, whatever is in the log (`createReplay` of `@harnesskit/wire/replay`). Throws `invalid_argument` for a limit that cannot be used.
 */
export const createAiSdkRunner = (options: AiSdkRunnerOptions): TurnRunner => {
  checkAiSdkRunnerOptions(options);
  const { model, maxContextLength = 400_000, maxRetries = 2, attachments, onRetry } = options;
  resolveAttachmentLimits(attachments);
  const replay = createReplay({ maxContextLength });
  const choose = (ref: ModelRef | undefined) => (typeof model === "function" ? model(ref) : model);
  return {
    async accept(request) {
      if (!attachments && request.input.some(({ type }) => type === "file")) {
        throw invalidParams("This agent takes no files: send text only", {
          reason: "attachments_unsupported",
        });
      }
      await choose(request.model);
    },
    async run(turn) {
      const chosen = await choose(turn.model);
      const { history } = turn;
      const messages = toModelMessages(history, attachments && (await readFiles(turn, history, attachments)));
      const maxSteps = turn.agent.maxSteps ?? 50;
      let sent = messages.length;
      for (let step = 0; step < maxSteps; step++) {
        if (step > 0) await turn.judgeRequest({ step, added: messages.slice(sent) as JsonValue[] });
        sent = messages.length;
        const result = await replay(messages, chosen, (shown) =>
          streamStep(turn, { model: chosen, messages: shown, step, maxRetries, onRetry }),
        );
        turn.addUsage(result.usage);
        if (result.calls.length === 0) return;
        messages.push(...result.messages, ...(await runCalls(turn, result.calls, mediaPlaceOf(chosen))));
      }
      throw new TurnError("step_limit", `The turn reached its limit of ${maxSteps} model calls.`);
    },
  };
};

/** Runs the calls one after the other: the next may depend on what the one before did, and a human is asked one thing at a time. */
const runCalls = async (
  turn: TurnContext,
  calls: readonly ToolRequest[],
  place: MediaPlace | undefined,
): Promise<ModelMessage[]> => {
  const results: ToolResultPart[] = [];
  const media: FilePart[] = [];
  for (const call of calls) {
    turn.signal.throwIfAborted();
    // Models repeat their ids: one that is in the history of the turn already is not that call.
    const callId = isInHistory(turn, call.callId) ? undefined : call.callId;
    const outcome = await turn.callTool({ ...call, callId });
    results.push(toToolResult(call.callId ?? "", call.tool, outcome, place));
    media.push(...(toModelOutput(outcome.modelOutput, place)?.message ?? []));
  }
  const shown: ModelMessage[] = media.length === 0 ? [] : [{ role: "user", content: media }];
  return [{ role: "tool", content: results }, ...shown];
};

const isInHistory = ({ turn, history }: TurnContext, callId: string | undefined): boolean =>
  history.some(
    (item) => item.turnId === turn.turnId && item.type === "tool_exec" && item.data?.callId === callId,
  );

const mediaPlaceOf = (model: LanguageModel): MediaPlace | undefined =>
  mediaPlaceAt(typeof model === "string" ? (model.split("/")[0] ?? "") : model.provider);
