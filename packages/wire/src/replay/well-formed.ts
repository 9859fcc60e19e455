/** The same string with U+FFFD in place of each lone surrogate, which no provider's JSON takes. */
export const wellFormed = (text: string): string => text.replace(/\p{Cs}/gu, "\ufffd");

/** The first characters of a string, at most `maxLength` UTF-16 units: a pair of surrogates stays whole or is left out. */
export const firstCharacters = (text: string, maxLength: number): string =>
  text.length <= maxLength ? text : text.slice(0, maxLength).replace(/[\ud800-\udbff]$/, "");

/** The last characters of a string, as {@link firstCharacters}. */
export const lastCharacters = (text: string, maxLength: number): string =>
  text.length <= maxLength ? text : text.slice(-maxLength).replace(/^[\udc00-\udfff]/, "");

/** The beginning and the end of a text, at most `maxLength` characters of it, with a line between them that `note` says of how many were left out. */
export const headAndTail = (text: string, maxLength: number, note: (left: number) => string): string => {
  const half = Math.floor(maxLength / 2);
  const [head, tail] = half < 1 ? ["", ""] : [firstCharacters(text, half), lastCharacters(text, half)];
  const left = note(text.length - head.length - tail.length);
  return [head, left, tail].filter((piece) => piece !== "").join("\n");
};

/** The escapes of JSON text. `JSON.stringify` writes only a lone surrogate as one of `\ud800` to `\udfff`. */
const escapes = /\\(?:ud[89a-f][0-9a-f]{2}|.)/g;

/** The same JSON value with U+FFFD in place of each lone surrogate, in keys too. */
export const wellFormedJson = (value: unknown): unknown => {
  const text = JSON.stringify(value) ?? "null";
  if (!text.includes("\\ud")) return JSON.parse(text);
  return JSON.parse(text.replace(escapes, (found) => (found.length > 2 ? "\\ufffd" : found)));
};
