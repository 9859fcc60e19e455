import {
  type Clock,
  checkNumber,
  defineLimits,
  InvalidArgumentError,
  type LimitsOf,
  type Resolved,
  systemClock,
} from "@harnesskit/wire";
import {
  type ContextWindows,
  createReplay,
  type Replay,
  wellFormed,
  wellFormedJson,
} from "@harnesskit/wire/replay";
import type { Tool as HarnessTool } from "@harnesskit/wire/tool";
import {
  asSchema,
  type CallSettings,
  jsonSchema,
  type LanguageModel,
  type ProviderMetadata,
  type Tool,
  type ToolSet,
} from "ai";
import type { ChatListener } from "./chat-events.ts";
import { toChatTools } from "./chat-tools.ts";
import { reasonText } from "./failure-text.ts";
import { ChatModelError } from "./to-model-error.ts";

/**
 * A tool as the model sees it. The graph runs it and asks for approvals, and checks the input when it does, perhaps in
 * another process: what is stored is what the model said, and not what a schema made of it.
 */
const showTool = async (tool: Tool): Promise<Tool> =>
  Object.assign(Object.create(Object.getPrototypeOf(tool)), tool, {
    description: tool.description === undefined ? undefined : wellFormed(tool.description),
    inputSchema: jsonSchema(wellFormedJson(await asSchema(tool.inputSchema).jsonSchema) as object),
    execute: undefined,
    needsApproval: undefined,
    toModelOutput: undefined,
    onInputStart: undefined,
    onInputDelta: undefined,
    onInputAvailable: undefined,
  });

const showTools = async (tools: Readonly<Record<string, Tool>>): Promise<ToolSet> => {
  const shown: ToolSet = Object.create(null);
  // Always in the same order, so that providers can cache them.
  for (const [name, tool] of Object.entries(tools).sort(([one], [other]) => (one < other ? -1 : 1))) {
    try {
      shown[name] = await showTool(tool);
    } catch (cause) {
      const message = `the model cannot be shown the input of the tool ${name}: ${reasonText(cause)}`;
      throw new ChatModelError("provider_invalid_request", message, { cause });
    }
  }
  return shown;
};

/** What the model is asked with in each step. */
export type ChatModelSettings = Omit<CallSettings, "abortSignal" | "maxRetries" | "timeout"> & {
  /** Settings of a provider, such as how long it may think. */
  readonly providerOptions?: ProviderMetadata;
};

export const chatGraphLimits = defineLimits({
  /** How often one turn asks the model; the last time without tools. */
  maxSteps: 20,
  /** Characters of one answer of the model, including thinking and arguments of calls. */
  maxAnswerLength: 1_000_000,
  /** Calls in one answer of the model. */
  maxCalls: 100,
  /** Characters of one tool's result; of a longer one the model receives the beginning and the end. */
  maxResultLength: 100_000,
  /** Characters of base64 of the images and files in one tool's result, beside its other text; of more, their kind and size are kept. */
  maxMediaLength: 1_048_576,
  /**
   * Characters of the conversation that the model is given at most, about; a model with a smaller context is given less. Of a longer one older tool outputs are
   * shortened first, which the tool `read_output` reads again; then the model makes a summary of the oldest messages, which the session keeps.
   */
  maxContextLength: 400_000,
});
export type ChatGraphLimits = LimitsOf<typeof chatGraphLimits>;

/** Tools of the AI SDK, or of `@harnesskit/wire/tool`. */
export type ChatTools = ToolSet | readonly HarnessTool[];

/** The tools that there are now: asked for each answer of the model, and each call. Where it rejects, the turn fails. */
export type ChatToolSource = (options: { readonly signal: AbortSignal }) => Promise<ChatTools>;

export interface ChatGraphOptions {
  /** Any model of the AI SDK. */
  readonly model: LanguageModel;
  /** Instructions before every conversation, which are not part of it. @default none */
  readonly system?: string | undefined;
  /**
   * Tools of the AI SDK, each with `execute`. One with `needsApproval` (true, or a function of the input that says so) pauses the
   * turn before it runs. Or an array of tools as `tool` makes them, for which see `toChatTools`. @default {}
   */
  readonly tools?: ChatTools | ChatToolSource | undefined;
  /** What the model is asked with. @default {} */
  readonly settings?: ChatModelSettings | undefined;
  /**
   * Tokens of the context of models, by the beginning of their id; `""` stands for all. What a provider says wins. @default `contextWindows`
   * of `@harnesskit/wire/replay`
   */
  readonly contextWindows?: ContextWindows | undefined;
  /**
   * How often a request is repeated if the provider fails before its answer begins. One whose answer breaks off after that is made once
   * more, whatever this is; what it had said is left out. @default 2
   */
  readonly maxRetries?: number | undefined;
  /**
   * How long the model's stream may be silent, before its first part too. One that is silent for longer is asked for once more.
   * @default 300000
   */
  readonly idleTimeoutMs?: number | undefined;
  /** How long one tool may run. @default 120000 */
  readonly toolTimeoutMs?: number | undefined;
  /** Limits to override. @default each as {@link ChatGraphLimits} states */
  readonly limits?: Partial<ChatGraphLimits> | undefined;
  /**
   * Returns a note for the model, such as that a command in the background has ended. It follows the message that begins the turn,
   * and is not stored. If it rejects, the turn fails. @default no note
   */
  readonly notes?: ((turn: { readonly sessionId: string | null }) => Promise<string | undefined>) | undefined;
  /** Receives text, calls and results as they come. The turn does not wait for it. @default no report */
  readonly onEvent?: ChatListener | undefined;
  /** Time. @default that of the system */
  readonly clock?: Clock | undefined;
}

/** The options with their defaults. */
export interface ChatSettings
  extends ChatGraphLimits,
    Resolved<
      Pick<
        ChatGraphOptions,
        "model" | "settings" | "maxRetries" | "idleTimeoutMs" | "toolTimeoutMs" | "clock"
      >
    > {
  readonly system: string | undefined;
  readonly tools: (signal: AbortSignal) => Promise<Readonly<Record<string, Tool>>>;
  /** The tools as the model sees them. Rejects with a `ChatModelError` for one that it cannot be shown. */
  readonly shownTools: (signal: AbortSignal) => Promise<ToolSet>;
  readonly onEvent: ChatListener | undefined;
  readonly notes: ChatGraphOptions["notes"];
  /** Reports what the code of a tool threw. */
  readonly report: (error: unknown, tool: string) => void;
  readonly replay: Replay;
}

const checkedTools = (given: ChatTools): Readonly<Record<string, Tool>> => {
  const tools = Array.isArray(given) ? toChatTools(given as readonly HarnessTool[]) : (given as ToolSet);
  const own: Record<string, Tool> = Object.create(null);
  for (const [name, tool] of Object.entries(tools)) {
    if (typeof tool?.execute !== "function") throw new InvalidArgumentError(`the tool ${name} needs execute`);
    own[name] = tool as Tool;
  }
  return own;
};

/** Checks the options. Throws `invalid_argument`. */
export const toChatSettings = (options: ChatGraphOptions): Omit<ChatSettings, "report"> => {
  const { model } = options;
  if (!(typeof model === "string" && model !== "") && !(typeof model === "object" && model !== null)) {
    throw new InvalidArgumentError("a chat graph needs a model");
  }
  const { tools: given = {} } = options;
  const fixed = typeof given === "function" ? undefined : checkedTools(given);
  const tools = async (signal: AbortSignal) =>
    fixed ?? checkedTools(await (given as ChatToolSource)({ signal }));
  let shown: Promise<ToolSet> | undefined;
  const limits = chatGraphLimits.resolve(options.limits);
  return {
    model,
    system: options.system === "" ? undefined : options.system,
    tools,
    shownTools: async (signal) => {
      if (fixed === undefined) return showTools(await tools(signal));
      shown ??= showTools(fixed);
      return shown;
    },
    settings: options.settings ?? {},
    onEvent: options.onEvent,
    notes: options.notes,
    clock: options.clock ?? systemClock,
    maxRetries: checkNumber("maxRetries", options.maxRetries ?? 2, { min: 0 }),
    idleTimeoutMs: checkNumber("idleTimeoutMs", options.idleTimeoutMs ?? 300_000),
    toolTimeoutMs: checkNumber("toolTimeoutMs", options.toolTimeoutMs ?? 120_000),
    replay: createReplay({
      maxContextLength: limits.maxContextLength,
      contextWindows: options.contextWindows,
    }),
    ...limits,
  };
};
