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

const printable = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/;

/** A string as JSON whose characters are safe to show: the string is the same when it is parsed. */
export const toSafeJson = (text: string): string =>
  printable.test(text) ? `"${text}"` : JSON.stringify(text).replace(deceptive, escapeOf);
