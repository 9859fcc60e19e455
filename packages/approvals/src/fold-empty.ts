import type { ViewLine } from "./view-lines.ts";

/** Empty lines in a row that are shown as they are. */
const maxEmpty = 5;

/** Replaces a long run of empty lines by one line that counts them, so that it cannot push the rest out of sight. */
export const foldEmpty = (lines: readonly ViewLine[]): readonly ViewLine[] => {
  const folded: ViewLine[] = [];
  let empty: ViewLine[] = [];
  const end = () => {
    if (empty.length > maxEmpty) folded.push({ kind: "cut", text: `… ${empty.length} empty lines …` });
    else folded.push(...empty);
    empty = [];
  };
  for (const line of lines) {
    if (line.kind === "plain" && line.text.trim() === "") empty.push(line);
    else {
      end();
      folded.push(line);
    }
  }
  end();
  return folded;
};
