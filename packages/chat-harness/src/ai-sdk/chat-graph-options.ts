import { type Clock, InvalidArgumentError, systemClock } from "@harnesskit/wire";
import type { CallSettings, LanguageModel, ProviderMetadata, Tool, ToolSet } from "ai";
import type { ChatListener } from "./chat-events.ts";
import { showTools } from "./show-tools.ts";

/** What the model is asked with in each step. */
export type ChatModelSettings = Omit<CallSettings, "abortSignal" | "maxRetries" | "timeout"> & {
  /** Settings of a provider, such as how long it may think. */
  readonly providerOptions?: ProviderMetadata;
};

export interface ChatGraphOptions {
  /** Any model of the AI SDK. */
  readonly model: LanguageModel;
  /** Instructions that are before every conversation and in none. @default none */
  readonly system?: string;
  /**
   * Tools of the AI SDK, each with `execute`. One with `needsApproval` (true, or a function of the input that says so) pauses the
   * turn before it runs. @default {}
   */
  readonly tools?: ToolSet;
  /** How often one turn asks the model; the last time without tools. @default 20 */
  readonly maxSteps?: number;
  /** What the model is asked with. @default {} */
  readonly settings?: ChatModelSettings;
  /** How often a request is tried again when the provider fails before its answer begins. @default 2 */
  readonly maxRetries?: number;
  /** How long one answer of the model may take. @default 300000 */
  readonly modelTimeoutMs?: number;
  /** How long one tool may run. @default 120000 */
  readonly toolTimeoutMs?: number;
  /** Characters of one answer of the model, thinking and arguments of calls included. @default 1000000 */
  readonly maxAnswerLength?: number;
  /** How many calls one answer of the model may have. @default 100 */
  readonly maxCalls?: number;
  /** Characters of one tool's result; a longer one is an error that says so. @default 100000 */
  readonly maxResultLength?: number;
  /** Told of text as it comes, and of calls. It changes nothing: nobody waits for it. @default nobody */
  readonly onEvent?: ChatListener;
  /** Time. @default that of the system */
  readonly clock?: Clock;
}

/** The options with their defaults. */
export interface ChatSettings {
  readonly model: LanguageModel;
  readonly system: string | undefined;
  readonly tools: Readonly<Record<string, Tool>>;
  /** The tools as the model sees them. Rejects with a `ChatModelError` for one that it cannot be shown. */
  readonly shownTools: () => Promise<ToolSet>;
  readonly settings: ChatModelSettings;
  readonly onEvent: ChatListener | undefined;
  readonly clock: Clock;
  readonly maxSteps: number;
  readonly maxRetries: number;
  readonly modelTimeoutMs: number;
  readonly toolTimeoutMs: number;
  readonly maxAnswerLength: number;
  readonly maxCalls: number;
  readonly maxResultLength: number;
}

const wholeNumber = (name: string, value: number, least: number): number => {
  if (Number.isSafeInteger(value) && value >= least) return value;
  throw new InvalidArgumentError(`${name} is no integer of at least ${least}`);
};

const checkedTools = (tools: ToolSet): Readonly<Record<string, Tool>> => {
  const own: Record<string, Tool> = Object.create(null);
  for (const [name, tool] of Object.entries(tools)) {
    if (name === "") throw new InvalidArgumentError("a tool has no name");
    if (typeof tool?.execute !== "function") {
      throw new InvalidArgumentError(`the tool ${name} has no execute: nobody would run it here`);
    }
    own[name] = tool as Tool;
  }
  return own;
};

/** Checks the options. Throws `invalid_argument`. */
export const toChatSettings = (options: ChatGraphOptions): ChatSettings => {
  const { model } = options;
  if (!(typeof model === "string" && model !== "") && !(typeof model === "object" && model !== null)) {
    throw new InvalidArgumentError("a chat graph needs a model");
  }
  const tools = checkedTools(options.tools ?? {});
  let shown: Promise<ToolSet> | undefined;
  return {
    model,
    system: options.system === "" ? undefined : options.system,
    tools,
    shownTools: () => {
      shown ??= showTools(tools);
      return shown;
    },
    settings: options.settings ?? {},
    onEvent: options.onEvent,
    clock: options.clock ?? systemClock,
    maxSteps: wholeNumber("maxSteps", options.maxSteps ?? 20, 1),
    maxRetries: wholeNumber("maxRetries", options.maxRetries ?? 2, 0),
    modelTimeoutMs: wholeNumber("modelTimeoutMs", options.modelTimeoutMs ?? 300_000, 1),
    toolTimeoutMs: wholeNumber("toolTimeoutMs", options.toolTimeoutMs ?? 120_000, 1),
    maxAnswerLength: wholeNumber("maxAnswerLength", options.maxAnswerLength ?? 1_000_000, 1),
    maxCalls: wholeNumber("maxCalls", options.maxCalls ?? 100, 1),
    maxResultLength: wholeNumber("maxResultLength", options.maxResultLength ?? 100_000, 1),
  };
};
