const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

export const byteLength = (text: string): number => encoder.encode(text).length;

/** The beginning of a text, at most `maxBytes` long in UTF-8, and how much of it is missing where it is cut. */
export const clip = (text: string, maxBytes: number): string => {
  // No character has more bytes than three for each of its units.
  if (text.length * 3 <= maxBytes) return text;
  const { written } = encoder.encodeInto(text, new Uint8Array(maxBytes));
  const bytes = encoder.encode(text);
  if (written >= bytes.length) return text;
  return `${decoder.decode(bytes.subarray(0, written))}… [${bytes.length - written} more bytes]`;
};
