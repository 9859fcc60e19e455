import type { JsonValue } from "@harnesskit/protocol/envelope";
import type { Item, ModelRef } from "@harnesskit/protocol/threads";
import {
  type Clock,
  checkNumber,
  defineOptions,
  invalidParams,
  resolveAttachmentLimits,
  systemClock,
} from "@harnesskit/wire";
import { mediaPlaceOf } from "@harnesskit/wire/model";
import { type ContextWindows, createReplay, refersToOutputs } from "@harnesskit/wire/replay";
import type { LanguageModel, ModelMessage } from "ai";
import { TurnError } from "../errors.ts";
import type { TurnContext, TurnRunner } from "../turn-runner.ts";
import { type AttachmentOptions, readFiles } from "./attached-files.ts";
import { toTurnError } from "./model-failure.ts";
import { finishedHistory, firstStep, runCalls, withOwnIds } from "./run-calls.ts";
import { lengthOfTools } from "./shown-tools.ts";
import { askModel, summarise } from "./stream-step.ts";
import { givenHistory, TurnConversation } from "./turn-conversation.ts";

export interface AiSdkRunnerOptions {
  /**
   * The model, or what chooses it by the `model` of `turn.start` (undefined where none was given). A chooser throws a
   * `ProtocolError` -32602 for a model that it does not know; it is asked before a turn begins and again when it runs.
   */
  readonly model: LanguageModel | ((ref: ModelRef | undefined) => LanguageModel | Promise<LanguageModel>);
  /**
   * Characters of the conversation that the model is given at most, about; a model with a smaller context is given less. Of a longer one older tool outputs are
   * shortened first, which the tool `read_output` reads again; then the model makes a summary of the oldest part, an item of the log. @default 400000
   */
  readonly maxContextLength?: number | undefined;
  /**
   * Tokens of the context of models, by the beginning of their id; `""` stands for all. What a provider says wins. @default `contextWindows`
   * of `@harnesskit/wire/replay`
   */
  readonly contextWindows?: ContextWindows | undefined;
  /**
   * Gives the model the files of a turn's input: images and PDFs as file parts, texts as text.
   * @default a turn with a file is refused with -32602, `data.reason` `attachments_unsupported`
   */
  readonly attachments?: AttachmentOptions | undefined;
  /**
   * Returns a note for the model, such as that a command in the background has ended. It follows the prompt that begins the turn,
   * and is not stored. It is not called for a turn that resumes. @default no note
   */
  readonly notes?: ((turn: TurnContext) => Promise<string | undefined>) | undefined;
  /** How often a call of the model is tried again when its provider fails. @default 2 */
  readonly maxRetries?: number | undefined;
  /**
   * How long the model's stream may be silent, before its first part too. One that is silent for longer, or breaks off after it has begun,
   * is asked for once more; what it had said is left out. @default 300000
   */
  readonly idleTimeoutMs?: number | undefined;
  /** @default the real time */
  readonly clock?: Clock | undefined;
  /** Receives a safe sentence for each attempt that failed and is repeated, with what the provider said. @default ignored */
  readonly onRetry?: ((reason: string) => void) | undefined;
}

const checkOptions = defineOptions<AiSdkRunnerOptions>("createAiSdkRunner", {
  model: true,
  maxContextLength: false,
  contextWindows: false,
  notes: false,
  maxRetries: false,
  attachments: false,
  idleTimeoutMs: false,
  clock: false,
  onRetry: false,
});

/**
 * An agent on the Vercel AI SDK: calls the model, runs the tools it asks for through the server's gate and approvals,
 * and goes on until it asks for none. Text and reasoning are streamed as `assistant_message` items, usage is reported
 * with the turn's end. Ends with a `TurnError` `step_limit` after the profile's `maxSteps`, `model_…` for a model
 * that fails (`model_stream_broken` and `model_silent` for a stream that does so twice), or `attachment_…` for a file that does not reach it. What the model is sent is valid
 * for any provider, whatever is in the log (`createReplay` of `@harnesskit/wire/replay`). Throws `invalid_argument` for a limit that cannot be used.
 */
export const createAiSdkRunner = (options: AiSdkRunnerOptions): TurnRunner => {
  checkOptions(options);
  const {
    model,
    maxContextLength = 400_000,
    contextWindows,
    maxRetries = 2,
    attachments,
    onRetry,
    clock = systemClock,
  } = options;
  const idleTimeoutMs = checkNumber("idleTimeoutMs", options.idleTimeoutMs ?? 300_000);
  resolveAttachmentLimits(attachments);
  const replay = createReplay({ maxContextLength, contextWindows });
  const begin = async (turn: TurnContext, history: readonly Item[]): Promise<TurnConversation> => {
    const given = givenHistory(history);
    const files = attachments && (await readFiles(turn, given.items, attachments));
    return new TurnConversation(turn.turn.turnId, given, files);
  };
  const choose = (ref: ModelRef | undefined) => (typeof model === "function" ? model(ref) : model);
  const run = async (turn: TurnContext): Promise<void> => {
    const chosen = await choose(turn.model);
    const place = mediaPlaceOf(chosen);
    // What was recorded as the last word needs no other.
    if (turn.steps.at(-1)?.calls.length === 0) return;
    const conversation = await begin(turn, await finishedHistory(turn));
    const asking = { model: chosen, maxRetries, onRetry, idleTimeoutMs, clock };
    const besideLength = turn.agent.systemPrompt.length + lengthOfTools(turn.tools);
    const maxSteps = turn.agent.maxSteps ?? 50;
    const first = firstStep(turn);
    let added = first === 0 ? [] : lastStepOf(conversation.messages);
    for (let step = first; step < maxSteps; step++) {
      if (step === 0) await addNotes(conversation, turn, options.notes);
      if (step > 0) await turn.judgeRequest({ step, added: added as JsonValue[] });
      const ask = (messages: ModelMessage[]) => {
        const tools = refersToOutputs(messages) ? [...turn.tools, turn.outputReader] : turn.tools;
        return askModel(turn, { ...asking, messages, tools, step });
      };
      const result = await replay(conversation.messages, chosen, ask, {
        besideLength,
        prompt: conversation.prompt,
        summarised: conversation.summarised,
        inputTokens: ({ usage }) => usage.inputTokens,
        async summarise(cut, room) {
          await summarise(turn, conversation, cut, { ...asking, room });
          return conversation.messages;
        },
      });
      const { calls, usage } = result;
      turn.addUsage(usage);
      const own = withOwnIds(calls);
      const recorded = turn.recordStep({ step, calls: own, usage });
      if (calls.length === 0) return recorded;
      added = [...result.messages, ...(await runCalls(turn, calls, own, place))];
      conversation.add(step, added);
    }
    throw new TurnError("step_limit", `The turn reached its limit of ${maxSteps} model calls.`);
  };
  const compact = async (turn: TurnContext): Promise<void> => {
    const chosen = await choose(turn.model);
    const conversation = await begin(turn, turn.history);
    const { length } = conversation.messages;
    if (length === conversation.summarised) return;
    const room = replay.roomFor(chosen);
    await summarise(turn, conversation, length, { model: chosen, room, maxRetries, idleTimeoutMs, clock });
  };
  const inTurnErrors = (work: Promise<void>): Promise<void> =>
    work.catch((error: unknown) => Promise.reject(toTurnError(error)));
  return {
    async accept(request) {
      if (!attachments && request.input.some(({ type }) => type === "file")) {
        throw invalidParams("This agent takes no files: send text only", {
          reason: "attachments_unsupported",
        });
      }
      await choose(request.model);
    },
    run: (turn) => inTurnErrors(run(turn)),
    compact: (turn) => inTurnErrors(compact(turn)),
  };
};

/** What the model said last, and what came back. */
const lastStepOf = (messages: readonly ModelMessage[]): ModelMessage[] =>
  messages.slice(messages.findLastIndex(({ role }) => role === "assistant"));

const addNotes = async (
  conversation: TurnConversation,
  turn: TurnContext,
  notes: AiSdkRunnerOptions["notes"],
): Promise<void> => {
  const text = await notes?.(turn);
  if (text !== undefined) conversation.add(0, [{ role: "user", content: [{ type: "text", text }] }]);
};
