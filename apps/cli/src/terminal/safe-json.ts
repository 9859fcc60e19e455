/** Characters that a terminal or a reader could take for something else, and that JSON may write as an escape. */
const unsafe = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/gu;

const escaped = (character: string): string => {
  let text = "";
  for (let index = 0; index < character.length; index++) {
    text += `\\u${character.charCodeAt(index).toString(16).padStart(4, "0")}`;
  }
  return text;
};

/** One line of JSON with the same meaning as `JSON.stringify`, harmless on a terminal too. */
export const safeJson = (value: unknown): string => JSON.stringify(value).replace(unsafe, escaped);
