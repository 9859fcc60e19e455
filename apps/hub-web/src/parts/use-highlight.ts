import type { Token } from "@harnesskit/approvals";
import { useEffect, useMemo, useState } from "preact/hooks";

type Highlight = typeof import("./highlight.ts").highlightLines;

let loaded: Highlight | undefined;

/** The language of a file, by the end of its name. */
export const languageOf = (path: string | undefined): string | undefined =>
  path === undefined ? undefined : /\.(\w{1,10})$/.exec(path)?.[1]?.toLowerCase();

/** The coloured pieces of each line; undefined until the colours are loaded, and for a language that is not known. */
export const useHighlight = (
  text: string,
  language: string | undefined,
): readonly (readonly Token[])[] | undefined => {
  const [highlight, setHighlight] = useState(() => loaded);
  useEffect(() => {
    if (language === undefined || highlight !== undefined) return;
    // Colours are loaded where there is code, and are no failure where they cannot be.
    import("./highlight.ts").then(
      ({ highlightLines }) => {
        loaded = highlightLines;
        setHighlight(() => highlightLines);
      },
      () => undefined,
    );
  }, [language, highlight]);
  return useMemo(
    () => (language === undefined ? undefined : highlight?.(text, language)),
    [highlight, text, language],
  );
};
