import type { ChatProgress } from "@harnesskit/chat-harness/ai-sdk";

const names = ["inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens"] as const;

const count = (value: number): string => value.toLocaleString("en-US");

/** What the models of a conversation have used since the command began, as their providers count it. */
export class TokenCounts {
  readonly #tokens = new Map<(typeof names)[number], number>();
  #requests = 0;
  #uncounted = 0;

  observe(progress: ChatProgress): void {
    if (progress.type !== "model_ended" && progress.type !== "summarised") return;
    this.#requests++;
    if (progress.inputTokens === undefined || progress.outputTokens === undefined) this.#uncounted++;
    for (const name of names) {
      const used = name in progress ? (progress as Partial<Record<typeof name, number>>)[name] : undefined;
      if (used !== undefined) this.#tokens.set(name, (this.#tokens.get(name) ?? 0) + used);
    }
  }

  /** In words. What a provider does not count is said to be unknown. */
  get text(): string {
    if (this.#requests === 0) return "No model was asked yet.";
    const of = (name: (typeof names)[number]) => this.#tokens.get(name);
    const requests = this.#requests === 1 ? "1 answer" : `${count(this.#requests)} answers`;
    const [tokensIn, tokensOut] = [of("inputTokens"), of("outputTokens")];
    if (tokensIn === undefined && tokensOut === undefined)
      return `${requests} of the model; its provider counts no tokens.`;
    const cached = [
      ...(of("cacheReadTokens") ? [`${count(of("cacheReadTokens") ?? 0)} read from the cache`] : []),
      ...(of("cacheWriteTokens") ? [`${count(of("cacheWriteTokens") ?? 0)} written to it`] : []),
    ];
    const beside = cached.length === 0 ? "" : ` (${cached.join(", ")})`;
    const unknown = this.#uncounted === 0 ? "" : `; those of ${count(this.#uncounted)} are unknown`;
    return `${requests} of the model: ${count(tokensIn ?? 0)} tokens in${beside}, ${count(tokensOut ?? 0)} out${unknown}.`;
  }
}
