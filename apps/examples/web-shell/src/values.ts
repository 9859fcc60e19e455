import { displayText } from "@harnesskit/wire";

/** What an engine wrote, as text that hides nothing and is cut after so many characters. */
export const safeText = (text: string, maxLength = 20_000): string =>
  displayText(text, { multiline: true, maxLength });
