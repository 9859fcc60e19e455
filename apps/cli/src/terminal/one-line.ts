import { displayText } from "@harnesskit/wire";
import stringWidth from "fast-string-width";

/** Untrusted text as one line of safe text, line ends shown as `⏎`, cut after `maxWidth` columns. */
export const oneLine = (text: string, maxWidth = 200): string => {
  const safe = displayText(text.slice(0, maxWidth * 4), { maxLength: Number.POSITIVE_INFINITY });
  const shown = safe.replaceAll("⟨U+000D⟩⟨U+000A⟩", "⏎ ").replaceAll("⟨U+000A⟩", "⏎ ").trimEnd();
  if (text.length <= maxWidth * 4 && stringWidth(shown) <= maxWidth) return shown;
  return `${cutToWidth(shown, maxWidth - 1)}…`;
};

/** The beginning of a safe text that fits into so many columns. */
const cutToWidth = (text: string, maxWidth: number): string => {
  if (stringWidth(text) <= maxWidth) return text;
  let width = 0;
  let kept = "";
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    width += stringWidth(segment);
    if (width > maxWidth) break;
    kept += segment;
  }
  return kept;
};
