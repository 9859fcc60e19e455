import type { JsonObject } from "@harnesskit/protocol/envelope";
import type { RowUsage } from "@harnesskit/protocol/hub";
import { defined, isObject } from "@harnesskit/wire/json";

const countOf = (value: unknown): number | undefined =>
  Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : undefined;

const maxModelLength = 200;

/**
 * The tokens that an agent reports with an event, in its payload or the payload's metadata: `usage` with `input_tokens`, `output_tokens`,
 * `cache_read_tokens`, `cache_write_tokens` and `model`, which may stand beside it: a name, or an object with an `id`. Undefined where it reports none.
 */
export const usageIn = ({ usage, metadata, model }: JsonObject): RowUsage | undefined => {
  const said = isObject(usage)
    ? usage
    : isObject(metadata) && isObject(metadata.usage)
      ? metadata.usage
      : undefined;
  if (said === undefined) return undefined;
  const counts = defined({
    inputTokens: countOf(said.input_tokens),
    outputTokens: countOf(said.output_tokens),
    cacheReadTokens: countOf(said.cache_read_tokens),
    cacheWriteTokens: countOf(said.cache_write_tokens),
  });
  if (Object.keys(counts).length === 0) return undefined;
  const named = said.model ?? model;
  const name = isObject(named) ? named.id : named;
  return typeof name === "string" ? { ...counts, model: name.slice(0, maxModelLength) } : counts;
};
