import type { ChatProgress } from "@harnesskit/chat-harness/ai-sdk";
import { costOf, type ModelPrices } from "@harnesskit/models";
import { formatDollars } from "../terminal/text.ts";

const names = ["inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens"] as const;

type Tokens = Partial<Record<(typeof names)[number], number | undefined>>;

const count = (value: number): string => value.toLocaleString("en-US");

/** What the models of a conversation have used since the command began, as their providers count it. */
export class TokenCounts {
  readonly #byModel = new Map<string, Tokens>();
  #answers = 0;
  #uncounted = 0;

  /** @param model the id of the model that was asked */
  observe(progress: ChatProgress, model: string): void {
    if (progress.type !== "model_ended" && progress.type !== "summarised") return;
    const used: Tokens = progress;
    this.#answers++;
    if (used.inputTokens === undefined || used.outputTokens === undefined) this.#uncounted++;
    const before = this.#byModel.get(model) ?? {};
    const sums = names.map((name) => [name, (before[name] ?? 0) + (used[name] ?? 0)]);
    this.#byModel.set(model, Object.fromEntries(sums));
  }

  /** In words. What a provider does not count, and what has no price, is said to be unknown. */
  text(prices: ModelPrices): string {
    if (this.#answers === 0) return "No model was asked yet.";
    const answers = this.#answers === 1 ? "1 answer" : `${count(this.#answers)} answers`;
    if (this.#uncounted === this.#answers) return `${answers} of the model; its provider counts no tokens.`;
    const all = [...this.#byModel.values()];
    const sum = (name: (typeof names)[number]) => all.reduce((total, of) => total + (of[name] ?? 0), 0);
    const cached = sum("cacheReadTokens");
    const costs = [...this.#byModel].map(([model, tokens]) => costOf(tokens, model, prices));
    const dollars = costs.reduce((total: number, cost) => total + (cost ?? 0), 0);
    const cost = costs.includes(undefined) ? "the cost is unknown" : `about ${formatDollars(dollars)}`;
    return [
      `${answers} of the model: ${count(sum("inputTokens"))} tokens in`,
      ...(cached === 0 ? [] : [`of them ${count(cached)} from the cache`]),
      `${count(sum("outputTokens"))} out`,
      ...(this.#uncounted === 0 ? [] : [`those of ${count(this.#uncounted)} are unknown`]),
      cost,
    ].join(", ");
  }
}
