/** What a program of awk may do beside reading its input and printing. */
export interface AwkScript {
  readonly mayRun: boolean;
  readonly mayRead: boolean;
  readonly mayWrite: boolean;
  /** Whether it may do more than is looked for here. */
  readonly isUnknown: boolean;
  /** Whether it looks at the environment. */
  readonly environment: boolean;
  /** What its strings may be: commands and names of files are among them. */
  readonly texts: readonly string[];
}

/** A string, or what stands behind the quote of one without an end: so each character is looked at once. */
const string = /"((?:[^"\\]|\\[\s\S])*)("|\\?$)/g;

/** The strings of a program. A pattern or a comment may have a quote in it: then each text between quotes may be one. */
const stringsOf = (script: string): readonly string[] => {
  const unescaped = (text: string) => text.replaceAll(/\\(["\\/])/g, "$1");
  const strings = [...script.matchAll(string)].map(([, text = ""]) => unescaped(text));
  const others = script.replaceAll(string, (all, _text, end) => (end === '"' ? "" : all));
  if (!/[/#"]/.test(others)) return strings;
  const parts = script.split('"').map((text) => text.replace(/(?<!\\)\\+$/, ""));
  return [...new Set([...strings, ...script.split(/(?<!\\)"/).map(unescaped), ...parts])];
};

/** Reads a program of awk. All is known of one that only selects and prints; in any other a string is taken for whatever it may be. */
export const readAwkScript = (script: string): AwkScript => {
  // A pattern at the beginning has no second reading, unless a backslash or a bracket is in it.
  const rest = script.replace(/^\s*(?:(?:!|\$\w+\s*!?~)\s*)?\/[^/\\[\n"]*\/(?=\s*(?:[{&;]|$))/, "");
  // Before the first brace there are only conditions, such as `NR > 2`.
  const actions = rest.replace(/^[^{]*/, (condition) => condition.replaceAll(">", ""));
  const mayRun = /system|\|/.test(actions.replaceAll("||", ""));
  const mayRead = actions.includes("getline");
  const mayWrite = actions.includes(">");
  const isUnknown = mayRun || mayRead || mayWrite || /@|ARG[VC]|SYMTAB|\\\r?\n/.test(script);
  return {
    ...{ mayRun, mayRead, mayWrite, isUnknown, environment: script.includes("ENVIRON") },
    texts: isUnknown ? stringsOf(script) : [],
  };
};
