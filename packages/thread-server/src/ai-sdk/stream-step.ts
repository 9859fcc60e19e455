import type { Usage } from "@harnesskit/protocol/threads";
import { jsonSchema, type LanguageModel, type ModelMessage, streamText, type ToolSet, tool } from "ai";
import { TurnError } from "../errors.ts";
import type { Tool } from "../tools.ts";
import type { MessageWriter, TurnContext } from "../turn-runner.ts";
import { toModelFailure } from "./model-failure.ts";

/** What one call of the model brought. */
export interface StepResult {
  /** What the model said, to be sent back to it. */
  readonly messages: ModelMessage[];
  readonly calls: readonly { readonly callId: string; readonly tool: string; readonly input: unknown }[];
  readonly usage: Usage;
}

export interface StepOptions {
  readonly model: LanguageModel;
  readonly messages: ModelMessage[];
  readonly step: number;
  readonly maxRetries: number;
}

/** The tools as the model sees them. They have no `execute`: the server runs them. */
const toToolSet = (tools: readonly Tool[]): ToolSet => {
  const set: ToolSet = {};
  for (const { name, description, inputSchema } of tools) {
    set[name] = tool({ description, inputSchema: jsonSchema(inputSchema) });
  }
  return set;
};

/** Writes the parts of a stream as items: one `assistant_message` a block, reasoning marked as such. */
class StepWriter {
  readonly #open = new Map<string, MessageWriter>();

  constructor(
    readonly turn: TurnContext,
    readonly step: number,
  ) {}

  start(id: string, reasoning: boolean): void {
    const { step } = this;
    this.#open.set(id, this.turn.message(reasoning ? { reasoning: true, step } : { step }));
  }

  append(id: string, text: string): void {
    this.#open.get(id)?.append(text);
  }

  async end(id: string): Promise<void> {
    const writer = this.#open.get(id);
    this.#open.delete(id);
    await writer?.complete();
  }

  async endAll(): Promise<void> {
    for (const id of [...this.#open.keys()]) await this.end(id);
  }
}

/** Calls the model once and streams what it says. Throws a `TurnError` for a model that fails, the signal's reason when cancelled. */
export const streamStep = async (turn: TurnContext, options: StepOptions): Promise<StepResult> => {
  const writer = new StepWriter(turn, options.step);
  const calls: StepResult["calls"][number][] = [];
  const stream = streamText({
    model: options.model,
    system: turn.agent.systemPrompt,
    messages: options.messages,
    tools: toToolSet(turn.tools),
    abortSignal: turn.signal,
    maxRetries: options.maxRetries,
    onError: () => {},
  });
  try {
    for await (const part of stream.fullStream) {
      switch (part.type) {
        case "text-start":
        case "reasoning-start":
          writer.start(part.id, part.type === "reasoning-start");
          break;
        case "text-delta":
        case "reasoning-delta":
          writer.append(part.id, part.text);
          break;
        case "text-end":
        case "reasoning-end":
          await writer.end(part.id);
          break;
        case "tool-call":
          calls.push({ callId: part.toolCallId, tool: part.toolName, input: part.input });
          break;
        case "error":
          throw part.error;
        default:
          break;
      }
    }
    await writer.endAll();
    turn.signal.throwIfAborted();
    const [response, usage, finishReason] = await Promise.all([
      stream.response,
      stream.usage,
      stream.finishReason,
    ]);
    if (finishReason === "length")
      throw new TurnError("model_output_limit", "The model reached its output limit.");
    if (finishReason === "content-filter")
      throw new TurnError("model_filtered", "The model's provider withheld the answer.");
    return { messages: withoutResults(response.messages), calls, usage: toUsage(usage) };
  } catch (error) {
    turn.signal.throwIfAborted();
    throw toModelFailure(error);
  }
};

/** The SDK answers an unusable call by itself; here every answer to a call comes from the server. */
const withoutResults = (messages: readonly ModelMessage[]): ModelMessage[] =>
  messages.filter(({ role }) => role === "assistant");

const toUsage = (usage: {
  inputTokens?: number | undefined;
  outputTokens?: number | undefined;
  totalTokens?: number | undefined;
}): Usage => {
  const known: Usage = {};
  for (const key of ["inputTokens", "outputTokens", "totalTokens"] as const) {
    if (usage[key] !== undefined) known[key] = usage[key];
  }
  return known;
};
