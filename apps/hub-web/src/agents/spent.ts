import type { ActivityGroup } from "@harnesskit/protocol/hub";
import { formatCount } from "../format.ts";

type Spent = Pick<ActivityGroup, "usage" | "reports" | "unpriced" | "cost">;

/** What tokens cost: what is not known is not shown as nothing. */
export const costText = ({ reports, unpriced, cost }: Spent): string => {
  if (unpriced === reports) return "unknown";
  const digits = cost > 0 && cost < 0.1 ? 4 : 2;
  return `${unpriced > 0 ? "at least " : ""}$${cost.toFixed(digits)}`;
};

export const tokenText = (tokens: number | undefined): string =>
  tokens === undefined ? "unknown" : formatCount(tokens);

/** How much of the input was read from the prompt cache. */
export const cachedText = ({ inputTokens = 0, cacheReadTokens }: ActivityGroup["usage"]): string =>
  cacheReadTokens === undefined || inputTokens === 0
    ? ""
    : `${Math.round((100 * cacheReadTokens) / inputTokens)} % from the cache`;
