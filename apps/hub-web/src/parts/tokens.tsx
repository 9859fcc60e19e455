import type { Token } from "@harnesskit/approvals";
import { SafeText } from "./safe-text.tsx";

/** Coloured pieces of a line. */
export function Tokens({ tokens }: { readonly tokens: readonly Token[] }) {
  return (
    <>
      {tokens.map(({ kind, text }, index) =>
        kind === "plain" ? (
          <SafeText key={`${index}`} text={text} />
        ) : (
          <span key={`${index}`} class={`tok-${kind}`}>
            <SafeText text={text} />
          </span>
        ),
      )}
    </>
  );
}
