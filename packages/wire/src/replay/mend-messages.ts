import { isObject } from "../json/json.ts";
import { ownMetadata } from "./own-metadata.ts";
import {
  type MendedMessage,
  type Part,
  partsOf,
  type ReplayMessage,
  type ReplayModel,
} from "./replayed-message.ts";
import { wellFormed, wellFormedJson } from "./well-formed.ts";

const maxNameLength = 64;

/** A tool's name in the alphabet that every provider takes. */
const safeName = (name: unknown): string => {
  const safe = String(name).replace(/[^A-Za-z0-9_-]+/g, "_") || "unknown_tool";
  return (/^[A-Za-z_]/.test(safe) ? safe : `_${safe}`).slice(0, maxNameLength);
};

const isBlank = (text: unknown): boolean => typeof text !== "string" || text.trim() === "";

const textPart = (text: string): Part => ({ type: "text", text });

/** A text that is said; undefined for one of nothing but space, which providers refuse. */
const mendText = (part: Part): Part | undefined =>
  isBlank(part.text) ? undefined : { ...part, text: wellFormed(part.text as string) };

const mendOutput = (output: unknown): unknown => {
  if (!isObject(output)) return { type: "text", value: "(no output)" };
  const { type, value } = output;
  switch (type) {
    case "text":
    case "error-text":
      return { ...output, value: isBlank(value) ? "(no output)" : wellFormed(value as string) };
    case "json":
    case "error-json":
      return { ...output, value: wellFormedJson(value) };
    case "execution-denied":
      return { type, reason: isBlank(output.reason) ? "not run" : wellFormed(output.reason as string) };
    case "content": {
      const parts = partsOf({ role: "tool", content: value }).flatMap((part) =>
        part.type === "text" ? (mendText(part) ?? []) : part,
      );
      return parts.length === 0 ? mendOutput(undefined) : { ...output, value: parts };
    }
    default:
      return output;
  }
};

const missingResult = {
  type: "error-text",
  value: "The result of this call was not recorded: it may have run.",
};

/** The ids of a request's calls: each once, and of nine letters and digits, which every provider takes. */
class CallIds {
  readonly #used = new Set<string>();
  #count = 0;

  /** The wanted id, if every provider takes it and no earlier call has it; else one of our own. */
  next(wanted?: unknown): string {
    let id = typeof wanted === "string" && /^[A-Za-z0-9_-]{1,40}$/.test(wanted) ? wanted : this.#own();
    while (this.#used.has(id)) id = this.#own();
    this.#used.add(id);
    return id;
  }

  #own(): string {
    this.#count++;
    return `call${String(this.#count).padStart(5, "0")}`;
  }
}

/** Makes one conversation valid: what it is asked for in order, it puts in order. */
class Mender {
  readonly #messages: MendedMessage[] = [];
  readonly #ids = new CallIds();
  readonly #own: ReturnType<typeof ownMetadata>;

  constructor(model: ReplayModel) {
    this.#own = ownMetadata(model);
  }

  system({ content, ...rest }: ReplayMessage): void {
    if (!isBlank(content)) this.#messages.push({ ...rest, content: wellFormed(content as string) });
  }

  user(message: ReplayMessage): void {
    const parts = partsOf(message).flatMap((part) => (part.type === "text" ? (mendText(part) ?? []) : part));
    const content = parts.length === 0 ? [textPart("(an empty message)")] : parts;
    this.#messages.push({ ...message, content });
  }

  /** @param isRunning the step belongs to the turn that runs */
  assistant(message: ReplayMessage, answers: readonly ReplayMessage[], isRunning: boolean): void {
    const results = answers.flatMap(partsOf).filter(({ type }) => type === "tool-result");
    const parts: Part[] = [];
    const answered: Part[] = [];
    for (const part of partsOf(message)) {
      if (part.type === "tool-call" && part.providerExecuted !== true) {
        const index = results.findIndex(({ toolCallId }) => toolCallId === part.toolCallId);
        const [found] = index < 0 ? [] : results.splice(index, 1);
        const { reference: _own, ...result } = found ?? { type: "tool-result" };
        const call = this.#call(part, isRunning);
        parts.push(call);
        const { toolCallId, toolName } = call;
        answered.push({
          ...result,
          toolCallId,
          toolName,
          output: found ? mendOutput(found.output) : missingResult,
        });
      } else {
        const said = this.#said(part, isRunning);
        if (said) parts.push(said);
      }
    }
    // What was thought belongs to what was said after it.
    while (parts.at(-1)?.type === "reasoning") parts.pop();
    if (parts.length > 0) this.#messages.push({ ...message, content: parts });
    if (answered.length > 0) this.#messages.push({ ...answers[0], role: "tool", content: answered });
  }

  /** The conversation: a user begins it, and the assistant does not have the last word. */
  finish(): readonly MendedMessage[] {
    const first = this.#messages.findIndex(({ role }) => role !== "system");
    if (first < 0) return this.#messages;
    if (this.#messages[first]?.role !== "user") {
      const begin = textPart("(The assistant began this conversation.)");
      this.#messages.splice(first, 0, { role: "user", content: [begin] });
    }
    if (this.#messages.at(-1)?.role === "assistant") {
      this.#messages.push({ role: "user", content: [textPart("(Go on.)")] });
    }
    return this.#messages;
  }

  /** What a part carries for this model's provider. A turn runs with one model, also one whose provider has another name. */
  #optionsOf(part: Part, isRunning: boolean): unknown {
    return this.#own(part) ?? (isRunning ? part.providerOptions : undefined);
  }

  #call(part: Part, isRunning: boolean): Part {
    const own = this.#optionsOf(part, isRunning);
    const { providerOptions: _all, toolCallId, toolName, input, ...rest } = part;
    return {
      ...rest,
      type: "tool-call",
      // A provider that keeps conversations knows its calls by their ids.
      toolCallId: this.#ids.next(own === undefined ? undefined : toolCallId),
      toolName: safeName(toolName),
      input: wellFormedJson(isObject(input) ? input : { value: input ?? null }),
      ...(own !== undefined && { providerOptions: own }),
    };
  }

  /**
   * Thinking is replayed to the provider that signed it. Without a signature it is the running turn's: models whose thinking is plain text want it back
   * between their calls, and refuse or ignore that of earlier turns.
   */
  #said(part: Part, isRunning: boolean): Part | undefined {
    if (part.type !== "text" && part.type !== "reasoning") return part;
    const own = this.#optionsOf(part, isRunning);
    const { providerOptions, ...bare } = part;
    const kept = own === undefined ? bare : { ...bare, providerOptions: own };
    if (part.type === "text") return mendText(kept);
    const text = String(part.text ?? "");
    const isMine = own !== undefined || (isRunning && providerOptions === undefined && text.trim() !== "");
    return isMine && wellFormed(text) === text ? kept : undefined;
  }
}

/**
 * A conversation as any provider takes it, whatever a model, a tool or a user put into it: tool names of `[A-Za-z0-9_-]{1,64}`, ids
 * of our own, each call followed by its result, well-formed strings, no empty text, no assistant's message first or last, and metadata
 * for no other provider than the one that made it. What it does not do is {@link joinRoles}.
 */
export const mendMessages = (
  messages: readonly ReplayMessage[],
  model: ReplayModel,
): readonly MendedMessage[] => {
  const mender = new Mender(model);
  const running = messages.findLastIndex(({ role }) => role === "user");
  messages.forEach((message, index) => {
    if (message.role === "system") mender.system(message);
    else if (message.role === "user") mender.user(message);
    else if (message.role === "assistant") {
      let end = index + 1;
      while (messages[end]?.role === "tool") end++;
      mender.assistant(message, messages.slice(index + 1, end), index > running);
    }
  });
  return mender.finish();
};

/** One message for those of one role in a row: templates of local models and Gemini refuse two. */
export const joinRoles = (messages: readonly MendedMessage[]): MendedMessage[] => {
  const joined: MendedMessage[] = [];
  for (const message of messages) {
    const last = joined.at(-1);
    if (last?.role !== message.role || message.role === "system") joined.push(message);
    else joined.splice(-1, 1, { ...last, content: [...partsOf(last), ...partsOf(message)] });
  }
  return joined;
};
