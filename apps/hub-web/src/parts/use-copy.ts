import { useState } from "preact/hooks";

const shownMs = 2000;

/** Copies a text; the first value says for two seconds that it was done. */
export const useCopy = (): readonly [isCopied: boolean, copy: (text: string) => void] => {
  const [isCopied, setCopied] = useState(false);
  const copy = (text: string) =>
    void navigator.clipboard.writeText(text).then(
      () => {
        setCopied(true);
        setTimeout(() => setCopied(false), shownMs);
      },
      () => setCopied(false),
    );
  return [isCopied, copy];
};
