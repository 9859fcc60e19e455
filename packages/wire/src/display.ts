/**
 * What could hide in a string or make it look like another one: controls, bidirectional marks, zero-width and other
 * format characters, tags, variation selectors, separators, odd spaces, blank letters, lone surrogates, private-use
 * and unassigned characters. The first alternative is what belongs inside an emoji or a keycap; it is matched to be
 * kept. In a function, because an import would take a millisecond for its classes.
 */
const deceptive = () =>
  /(\p{Extended_Pictographic}[\ufe0f\p{Emoji_Modifier}]?(?:\u200d\p{Extended_Pictographic}[\ufe0f\p{Emoji_Modifier}]?)*|[0-9#*]\ufe0f\u20e3)|[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\u115f\u1160\u2800\u3164\uffa0]|\p{Default_Ignorable_Code_Point}|(?! )\p{Zs}/gu;

const plain = /^[ -~]*$/;

const escapeCharacter = (character: string): string => {
  const point = (character.codePointAt(0) ?? 0).toString(16).toUpperCase();
  return `⟨U+${point.padStart(4, "0")}⟩`;
};

/** The last place at or before `end` that is not inside a surrogate pair. */
export const endOfCharacter = (text: string, end: number): number =>
  (text.codePointAt(end - 1) ?? 0) > 0xffff ? end - 1 : end;

export interface DisplayOptions {
  /** Keep line feeds and tabs as they are, for text that is shown as a block. @default false */
  readonly multiline?: boolean | undefined;
  /** Characters kept; how many were cut is said. @default 10000 */
  readonly maxLength?: number | undefined;
}

/**
 * Makes untrusted text safe to show and to judge: whatever is invisible or misleading is written out as `⟨U+202E⟩`,
 * everything else stays as it is, and what is cut is said. Takes any string; never throws.
 */
export const displayText = (text: string, options: DisplayOptions = {}): string => {
  const { multiline = false, maxLength = 10_000 } = options;
  const cut = text.length > maxLength;
  const kept = cut ? text.slice(0, endOfCharacter(text, maxLength)) : text;
  // Most text is plain: the classes of Unicode are not asked then.
  if (!cut && plain.test(kept)) return kept;
  const safe = kept.replace(deceptive(), (character, emoji: string | undefined) => {
    if (emoji !== undefined || (multiline && (character === "\n" || character === "\t"))) return character;
    return escapeCharacter(character);
  });
  return cut ? `${safe}… [${text.length - kept.length} more characters]` : safe;
};

/**
 * The name of a tool as one safe line. Letters beyond ASCII are written out, too: `b⟨U+0430⟩sh` is not `bash`, and providers of models take no
 * other names.
 */
export const displayName = (name: string, options: DisplayOptions = {}): string =>
  displayText(name, options).replace(/[^ -~⟨⟩…]/gu, escapeCharacter);

/** The reason of a decision, or a name in it, as one safe line of at most 2,000 characters. */
export const displayReason = (reason: string): string => displayText(reason, { maxLength: 2000 });
