/** Whether a string holds a pattern of file names. */
export const isPattern = (text: string): boolean => /[*?[]/.test(text);

const escapedForRegex = (char: string): string => (/[\\^$.*+?()[\]{}|/]/.test(char) ? `\\${char}` : char);

const classOf = (text: string, at: number): { source: string; end: number } | undefined => {
  const end = text.indexOf("]", text[at + 1] === "]" || /[!^]/.test(text[at + 1] ?? "") ? at + 2 : at + 1);
  if (end === -1) return undefined;
  const inner = text
    .slice(at + 1, end)
    .replace(/\\/g, "\\\\")
    .replace(/\[/g, "\\[")
    .replace(/\]/g, "\\]");
  return { source: `[${inner.replace(/^[!^]/, "^")}]`, end };
};

/** The regular expression of a shell pattern; undefined where it cannot be read. */
const patternToRegExp = (pattern: string): RegExp | undefined => {
  let source = "";
  for (let at = 0; at < pattern.length; at++) {
    const char = pattern[at] ?? "";
    const group = char === "[" ? classOf(pattern, at) : undefined;
    if (group !== undefined) {
      source += group.source;
      at = group.end;
    } else if (char === "*") {
      // Stars side by side mean the same as one, and would make matching slow.
      if (pattern[at - 1] !== "*") source += "[^]*?";
    } else source += char === "?" ? "[^]" : escapedForRegex(char);
  }
  // Each further star multiplies the steps of a match that fails.
  if (source.split("[^]*?").length > 6) return undefined;
  try {
    return new RegExp(`^${source}$`);
  } catch {
    return undefined;
  }
};

/** Whether a pattern may stand for a name; true where the pattern cannot be read. */
export const mayMatch = (pattern: string, name: string): boolean =>
  patternToRegExp(pattern)?.test(name) ?? true;
