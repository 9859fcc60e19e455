/** What a terminal or an editor would obey or hide: controls, line separators, directional and invisible marks. */
const deceptive =
  /[\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e0fff}]/gu;

const escapeOf = (character: string): string => {
  let escaped = "";
  for (let at = 0; at < character.length; at++) {
    escaped += `\\u${character.charCodeAt(at).toString(16).padStart(4, "0")}`;
  }
  return escaped;
};

/** A text as JSON whose characters are safe to show: the text is the same when it is parsed. */
export const toSafeJson = (text: string): string => JSON.stringify(text).replace(deceptive, escapeOf);

/** By character code: 1 for hexadecimal digits and the hyphen, 2 for other characters of ids, 0 for all that need a look. */
const kinds = new Uint8Array(128);
for (const character of "0123456789abcdef-") kinds[character.charCodeAt(0)] = 1;
for (const character of "ghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_./")
  kinds[character.charCodeAt(0)] = 2;

/** Shorter than any token of a known shape. */
const shortLength = 13;
const longestPlain = 128;

/**
 * True for a text that needs no escape and cannot hold a token of a known shape: an id of hexadecimal digits and
 * hyphens, or a short word. False says nothing.
 */
export const isPlain = (text: string): boolean => {
  const { length } = text;
  if (length > longestPlain) return false;
  let seen = 0;
  for (let at = 0; at < length; at++) {
    const kind = kinds[text.charCodeAt(at)];
    if (kind === undefined || kind === 0) return false;
    seen |= kind;
  }
  return seen < 2 || length < shortLength;
};

const needsEscape = /[^\x20\x21\x23-\x5b\x5d-\x7e]/;

/** True for a text that is its own JSON between quotes, and that shows as it is. */
export const isPrintable = (text: string): boolean => !needsEscape.test(text);
