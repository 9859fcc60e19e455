import { utf8Length } from "@harnesskit/wire/json";

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** The beginning of a string, at most `maxBytes` long in UTF-8, and how much of it is missing where it is cut. */
export const clip = (text: string, maxBytes: number): string => {
  const bytes = utf8Length(text);
  if (bytes <= maxBytes) return text;
  const kept = new Uint8Array(maxBytes);
  const { written } = new TextEncoder().encodeInto(text, kept);
  return `${decoder.decode(kept.subarray(0, written))}… [${bytes - written} more bytes]`;
};
