import type { JsonObject } from "@harnesskit/protocol/envelope";
import { modelName } from "./own-metadata.ts";
import type { ReplayMessage, ReplayModel } from "./replayed-message.ts";

/** Provider options of a tool or a message up to which the provider is to cache a request. */
export type CacheBreakpoint = Record<string, JsonObject>;

/**
 * The provider options that mark up to where the provider caches a request; undefined for one that caches by itself (OpenAI, Gemini,
 * local servers), or not at all. Bedrock and OpenRouter read none of a tool: that of the instructions covers the tools. Of the four that Anthropic takes, one is for the tools, one for the instructions, and two for {@link withBreakpoints}.
 */
export const cacheBreakpoint = (model: ReplayModel): CacheBreakpoint | undefined => {
  const name = modelName(model).toLowerCase();
  if (!/claude|anthropic/.test(name)) return undefined;
  // Bedrock's Converse API. Its provider `bedrock.anthropic.messages` speaks Anthropic's own.
  if (name.startsWith("amazon-bedrock/")) return { bedrock: { cachePoint: { type: "default" } } };
  const cacheControl = { type: "ephemeral" };
  return name.includes("openrouter") ? { openrouter: { cacheControl } } : { anthropic: { cacheControl } };
};

/** The instructions up to which the provider is to cache a request; undefined where there are none. */
export const cachedSystem = (content: string | undefined, breakpoint: CacheBreakpoint | undefined) => {
  if (content === undefined || content === "") return undefined;
  return breakpoint ? { role: "system" as const, content, providerOptions: breakpoint } : content;
};

/** The tools by their names, up to the last of which the provider is to cache a request. */
export const cachedTools = <Tools extends Readonly<Record<string, object>>>(
  tools: Tools,
  breakpoint: CacheBreakpoint | undefined,
): Tools => {
  const last = Object.keys(tools).at(-1);
  if (last === undefined || breakpoint === undefined) return tools;
  return { ...tools, [last]: { ...tools[last], providerOptions: breakpoint } };
};

/** The messages with a breakpoint behind the last settled turn and one behind the last message, from which the next step of the turn goes on. */
export const withBreakpoints = <Message extends ReplayMessage>(
  messages: readonly Message[],
  breakpoint: CacheBreakpoint | undefined,
): Message[] => {
  if (!breakpoint) return [...messages];
  const asked = messages.findLastIndex(({ role }) => role === "user");
  return messages.map((message, index) =>
    index === asked - 1 || index === messages.length - 1
      ? { ...message, providerOptions: breakpoint }
      : message,
  );
};
