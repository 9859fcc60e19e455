import { BoundedMap } from "../bounded.ts";
import { checkNumber } from "../define-limits.ts";
import { defineOptions } from "../define-options.ts";
import { isContextOverflow, statedWindow } from "./context-overflow.ts";
import { type ContextWindows, contextWindows, windowOf } from "./context-windows.ts";
import { joinRoles, mendMessages } from "./mend-messages.ts";
import { modelName } from "./own-metadata.ts";
import { lengthOfMessages, type ReplayMessage, type ReplayModel } from "./replayed-message.ts";
import { shortenOutputs } from "./shorten-outputs.ts";
import { leaveOut, type SummaryCutOptions, summaryCut } from "./summary-cut.ts";

export interface ReplayOptions {
  /** Characters of a conversation that a model is sent at most, about; a file counts as 6,000. */
  readonly maxContextLength: number;
  /** Tokens of the context of models. What a provider says wins. @default {@link contextWindows} */
  readonly contextWindows?: ContextWindows | undefined;
}

const checkReplayOptions = defineOptions<ReplayOptions>("createReplay", {
  maxContextLength: true,
  contextWindows: false,
});

/** What makes a conversation fit that is too long. */
export interface ReplayRequest<Message, Result>
  extends Partial<Pick<SummaryCutOptions, "prompt" | "canCut">> {
  /** Characters of the instructions and the tools beside the conversation. @default 0 */
  readonly besideLength?: number | undefined;
  /** How many messages at the beginning are a summary. @default 0 */
  readonly summarised?: number | undefined;
  /** The tokens of a request as its provider counted them. @default not known */
  readonly inputTokens?: ((result: Result) => number | undefined) | undefined;
  /**
   * Gives the conversation with a summary, the first message, in place of the messages before `cut`; the prompt stays behind it. `room` is in characters.
   * @default the oldest messages are left out, with a note
   */
  readonly summarise?: ((cut: number, room: number) => Promise<readonly Message[]>) | undefined;
}

/**
 * Sends a conversation as any provider takes it. Rejects as `send` and `summarise` do; only where the provider says that the request is longer than
 * the model's context is `send` called again, with less.
 */
export interface Replay {
  <Message extends ReplayMessage, Result>(
    messages: readonly Message[],
    model: ReplayModel,
    send: (messages: Message[]) => Promise<Result>,
    request?: ReplayRequest<Message, Result>,
  ): Promise<Result>;
  /** Characters of a conversation for which this model has room, about. */
  roomFor(model: ReplayModel, besideLength?: number): number;
}

/** What a model's provider has said. */
interface Known {
  /** Tokens of the context. */
  readonly window?: number | undefined;
  /** Characters in a token. */
  readonly tokenLength?: number | undefined;
  /** Characters of a conversation, after a longer one was refused. */
  readonly limit?: number | undefined;
}

/** Models of which something is known by what their providers said. */
const maxModels = 100;
/** How often one request is repeated with less. */
const maxAttempts = 10;
/** What is sent of a request that was too long. */
const shrink = 0.7;
/** Characters in a token of code, where the provider has not counted any, and what a provider's count may make of it. */
const defaultTokenLength = 3;
const [minTokenLength, maxTokenLength] = [1, 5];
/** Tokens of a request from which the provider's count says how long a token is. */
const minCounted = 1000;
/** What of the context is for the conversation, and what it keeps at least beside instructions and tools. */
const promptShare = 0.85;
const minShare = 0.25;

const lengthOfTokens = (length: number, tokens: number): number =>
  Math.min(maxTokenLength, Math.max(minTokenLength, length / tokens));

/**
 * What stands between a stored conversation and a model. The store keeps what was said; what is sent is mended: tool names of
 * `[A-Za-z0-9_-]{1,64}`, ids of our own, each call followed by its result, well-formed strings, no empty text, signatures only for the
 * provider that made them. It is cut to what the model takes, `maxContextLength` at most: first the outputs of older tool calls, with marks, then what a
 * summary stands for, else the oldest messages, with a note.
 *
 * Throws `invalid_argument` for a `maxContextLength` or a window that is not a whole number of at least 1.
 */
export const createReplay = (options: ReplayOptions): Replay => {
  const { contextWindows: windows = contextWindows, ...given } = checkReplayOptions(options);
  const maxContextLength = checkNumber("maxContextLength", given.maxContextLength);
  for (const [name, tokens] of Object.entries(windows)) checkNumber(`contextWindows.${name}`, tokens);
  /** By the models' names. */
  const known = new BoundedMap<string, Known>({ maxSize: maxModels });
  const roomFor = (model: ReplayModel, besideLength = 0): number => {
    const {
      limit = maxContextLength,
      tokenLength = defaultTokenLength,
      ...said
    } = known.get(modelName(model)) ?? {};
    const window = said.window ?? windowOf(model, windows);
    if (window === undefined) return Math.min(maxContextLength, limit);
    const length = window * tokenLength;
    const room = Math.floor(Math.max(length * minShare, length * promptShare - besideLength));
    return Math.max(1, Math.min(maxContextLength, limit, room));
  };
  const learn = (model: ReplayModel, news: Known): void => {
    const name = modelName(model);
    known.set(name, { ...known.get(name), ...news });
  };
  const replay = async <Message extends ReplayMessage, Result>(
    messages: readonly Message[],
    model: ReplayModel,
    send: (messages: Message[]) => Promise<Result>,
    request: ReplayRequest<Message, Result> = {},
  ): Promise<Result> => {
    const { besideLength = 0, inputTokens, summarise, canCut } = request;
    let { summarised = 0, prompt = messages.findLastIndex(({ role }) => role === "user") } = request;
    let current = messages;
    const fit = (short: readonly Message[], room: number) =>
      mendMessages(leaveOut(short, { room, prompt, summarised }), model);
    for (let attempt = 1; ; attempt++) {
      const room = roomFor(model, besideLength);
      let short = shortenOutputs(current, room);
      if (summarise !== undefined && lengthOfMessages(short) > room) {
        const cut = summaryCut(short, { room, prompt, summarised, canCut });
        if (cut > 0) {
          current = await summarise(cut, room);
          summarised = 1;
          prompt = Math.max(1, prompt - cut + 1);
          short = shortenOutputs(current, room);
        }
      }
      const sent = fit(short, room);
      const length = lengthOfMessages(sent);
      try {
        // Each message is one that was given, or of a form that every such type has.
        const result = await send(joinRoles(sent) as unknown as Message[]);
        const tokens = inputTokens?.(result) ?? 0;
        if (tokens >= minCounted)
          learn(model, { tokenLength: lengthOfTokens(length + besideLength, tokens) });
        return result;
      } catch (error) {
        if (!isContextOverflow(error) || attempt >= maxAttempts) throw error;
        const window = statedWindow(error);
        if (window !== undefined) learn(model, { window });
        learn(model, {
          limit: Math.max(1, Math.min(roomFor(model, besideLength), Math.floor(length * shrink))),
        });
        const less = roomFor(model, besideLength);
        if (lengthOfMessages(fit(shortenOutputs(current, less), less)) >= length) throw error;
      }
    }
  };
  return Object.assign(replay, { roomFor });
};
