/** What the server of a run wrote on standard error, of which the run itself has shown some. */

/** What the server says of the user's agents and of its model, as a note of this command. */
export const noteOfAgents = (line: string): string | undefined => {
  const [, note] =
    /^harness serve: ((?:the (?:agent|tool) (?!harnesskit\.workspace\b)|no installed agent |the model is asked again).*)$/s.exec(
      line,
    ) ?? [];
  return note === undefined ? undefined : `harness run: ${note}`;
};

/** The last lines of the server, without the notes that were shown when they came. */
export const withoutNotes = (tail: string): string =>
  tail
    .split("\n")
    .filter((line) => noteOfAgents(line) === undefined)
    .join("\n");

const failurePrefix = "harness: ";

/** The reason for which the server ended, as every command of harness writes it at its end; undefined where it wrote none. */
export const failureIn = (
  tail: string,
): { readonly message: string; readonly hint: string | undefined } | undefined => {
  const lines = tail.split("\n");
  const at = lines.findLastIndex((line) => line.startsWith(failurePrefix));
  if (at === -1) return undefined;
  const [first = "", ...rest] = lines.slice(at);
  const isHint = (line: string) => line.startsWith("  ");
  const text = [first.slice(failurePrefix.length), ...rest.filter((line) => !isHint(line))];
  const hint = rest.filter(isHint).map((line) => line.trim());
  return { message: text.join(" ").trim(), hint: hint.length === 0 ? undefined : hint.join("\n  ") };
};
