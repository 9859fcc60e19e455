import type { ProviderMetadata } from "ai";

/** The kind of provider-bound text that a content block has one of. */
type Kind = "signature" | "redactedData";

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The text that stands for itself: what Anthropic signs or hides, alone. */
const bareText = (metadata: ProviderMetadata, kind: Kind): string | undefined => {
  const [[provider, values] = [], ...others] = Object.entries(metadata);
  if (provider !== "anthropic" || others.length > 0 || !isObject(values)) return undefined;
  const [[key, text] = [], ...more] = Object.entries(values);
  return key === kind && more.length === 0 && typeof text === "string" ? text : undefined;
};

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** The metadata that a text spells out; undefined for one that stands for itself. */
const spelledOut = (text: string, kind: Kind): ProviderMetadata | undefined => {
  if (!text.startsWith('{"')) return undefined;
  const value = parse(text);
  if (!isObject(value) || !Object.values(value).every(isObject) || JSON.stringify(value) !== text)
    return undefined;
  const metadata = value as ProviderMetadata;
  const bare = bareText(metadata, kind);
  return bare === undefined || spelledOut(bare, kind) !== undefined ? metadata : undefined;
};

/**
 * A provider's metadata as the one text that a chat message has room for. Anthropic's signature alone, and its hidden
 * thinking, are that text itself, as other implementations have it; anything else is spelled out as JSON.
 */
export const textOfMetadata = (metadata: ProviderMetadata, kind: Kind): string => {
  const bare = bareText(metadata, kind);
  return bare === undefined || spelledOut(bare, kind) !== undefined ? JSON.stringify(metadata) : bare;
};

/** The way back from {@link textOfMetadata}. Each provider reads its own part only: another model gets no foreign signature. */
export const metadataOfText = (text: string, kind: Kind): ProviderMetadata =>
  spelledOut(text, kind) ?? { anthropic: { [kind]: text } };
