/** What a model's tokens cost, in US dollars for a million. */
export interface ModelPrice {
  readonly input: number;
  readonly output: number;
  /** Input that the provider read from its cache. @default as `input` */
  readonly cacheRead?: number | undefined;
  /** Input that the provider wrote to its cache. @default as `input` */
  readonly cacheWrite?: number | undefined;
}

/** Prices by the model's name at its provider, in lower case and without a date: `claude-opus-4-5`. */
export type ModelPrices = Readonly<Record<string, ModelPrice>>;

const claude = (input: number): ModelPrice => ({
  input,
  output: input * 5,
  cacheRead: input * 0.1,
  cacheWrite: input * 1.25,
});

const gpt = (input: number, output: number, cacheRead = input / 10): ModelPrice => ({
  input,
  output,
  cacheRead,
});

/**
 * List prices of April 2026, without surcharges for long prompts and without discounts. Give your own table where yours differ: nothing
 * is guessed for a model that is not in it.
 */
export const modelPrices: ModelPrices = {
  planner: { input: 0, output: 0 },
  "claude-opus-4-6": claude(5),
  "claude-opus-4-5": claude(5),
  "claude-opus-4-1": claude(15),
  "claude-opus-4": claude(15),
  "claude-sonnet-4-6": claude(3),
  "claude-sonnet-4-5": claude(3),
  "claude-sonnet-4": claude(3),
  "claude-3-7-sonnet": claude(3),
  "claude-haiku-4-5": claude(1),
  "claude-3-5-haiku": claude(0.8),
  "gpt-5.2": gpt(1.75, 14),
  "gpt-5.1": gpt(1.25, 10),
  "gpt-5": gpt(1.25, 10),
  "gpt-5-mini": gpt(0.25, 2),
  "gpt-5-nano": gpt(0.05, 0.4),
  "gpt-4.1": gpt(2, 8, 0.5),
  "gpt-4.1-mini": gpt(0.4, 1.6, 0.1),
  "gpt-4.1-nano": gpt(0.1, 0.4, 0.025),
  "gpt-4o": gpt(2.5, 10, 1.25),
  "gpt-4o-mini": gpt(0.15, 0.6, 0.075),
};

/** The name without its date (`-20251101`, `-2025-08-07`, `@20251101`, `-latest`) and without the name of a gateway (`anthropic/`, `us.anthropic.`). */
const plainName = (model: string): string =>
  model
    .toLowerCase()
    .replace(/^.*(?:\/|anthropic\.)/, "")
    .replace(/(?:-v\d+(?::\d+)?)$/, "")
    .replace(/(?:[-@]\d{8}|-\d{4}-\d{2}-\d{2}|-latest)$/, "");

/** Tokens as a turn's `usage` counts them; `inputTokens` includes those of the cache. */
export interface TokenCounts {
  readonly inputTokens?: number | undefined;
  readonly outputTokens?: number | undefined;
  readonly cacheReadTokens?: number | undefined;
  readonly cacheWriteTokens?: number | undefined;
}

/**
 * What these tokens of a model cost, in US dollars; undefined where the model has no price.
 *
 * @param model its name at the provider, such as `claude-opus-4-5-20251101`
 * @param prices default {@link modelPrices}; looked up by the whole name first, then without its date and gateway
 */
export const costOf = (
  usage: TokenCounts,
  model: string | undefined,
  prices: ModelPrices = modelPrices,
): number | undefined => {
  const name = [model ?? "", plainName(model ?? "")].find((each) => Object.hasOwn(prices, each));
  const price = name === undefined ? undefined : prices[name];
  if (price === undefined) return undefined;
  const { inputTokens = 0, outputTokens = 0, cacheReadTokens = 0, cacheWriteTokens = 0 } = usage;
  const uncached = Math.max(0, inputTokens - cacheReadTokens - cacheWriteTokens);
  const { input, output, cacheRead = input, cacheWrite = input } = price;
  return (
    (uncached * input + cacheReadTokens * cacheRead + cacheWriteTokens * cacheWrite + outputTokens * output) /
    1_000_000
  );
};
