/** What a program of awk runs and which files it opens. */
export interface AwkScript {
  readonly runs: readonly string[];
  readonly reads: readonly string[];
  readonly writes: readonly string[];
  /** What it does that is not known, as the ends of sentences. */
  readonly unknown: readonly string[];
  /** Whether it looks at the environment. */
  readonly environment: boolean;
}

interface Token {
  readonly kind: "word" | "number" | "text" | "pattern" | "sign" | "line";
  readonly text: string;
}

const token =
  /(?<blank>(?:[ \t\r]|\\\r?\n|#[^\n]*)+)|(?<word>[A-Za-z_]\w*)|(?<number>(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?![\w.]))|(?<text>"(?:[^"\\\n]|\\[\s\S])*")|(?<line>\n)|(?<sign>\|\||\|&|&&|>>|[-+*%^=!<>]=|\*\*|\+\+|--|[-+*%^!<>|?:~$=(){}[\],;@/&])/y;

/** A pattern between slashes. One with a bracket that a slash stands in ends elsewhere for another awk. */
const pattern = /\/(?:[^/\\\n[]|\\[^\n]|\[\^?\]?[^\]/\n]*\])+\//y;

/** Words after which a slash begins a pattern. */
const before = /^(?:print|printf|return|else|do|exit)$/;

/** Words after which one awk begins a pattern and another divides. */
const either = /^(?:in|case|getline|length|default|delete)$/;

/** The tokens of a program; undefined where strings cannot be recognised for certain. */
const tokens = (script: string): readonly Token[] | undefined => {
  const found: Token[] = [];
  let at = 0;
  while (at < script.length) {
    const last = found.at(-1);
    if (script[at] === "/") {
      // After a parenthesis it divides, or begins the pattern of a statement.
      if (/^(?:\)|\+\+|--)$/.test(last?.text ?? "") || (last?.kind === "word" && either.test(last.text)))
        return undefined;
      const divides =
        last !== undefined &&
        (/^(?:number|text|pattern)$/.test(last.kind) ||
          last.text === "]" ||
          (last.kind === "word" && !before.test(last.text)));
      if (!divides) {
        pattern.lastIndex = at;
        const text = pattern.exec(script)?.[0];
        if (text === undefined) return undefined;
        found.push({ kind: "pattern", text });
        at += text.length;
        continue;
      }
    }
    token.lastIndex = at;
    const groups = token.exec(script)?.groups;
    if (groups === undefined) return undefined;
    const [kind, text] = Object.entries(groups).find(([, value]) => value !== undefined) ?? ["", ""];
    if (kind !== "blank") found.push({ kind: kind as Token["kind"], text });
    at += text.length;
  }
  return found;
};

/** The value of a string; undefined where it has escapes that are not supported. */
const stringValue = (text: string): string | undefined =>
  /\\[^"\\/]/.test(text) ? undefined : text.slice(1, -1).replace(/\\(.)/g, "$1");

const isEnd = (each: Token | undefined): boolean =>
  each === undefined || each.kind === "line" || /^[;})]$/.test(each.text);

/** Reads a program of awk. What cannot be recognised for certain is not known. */
export const readAwkScript = (script: string): AwkScript => {
  const runs: string[] = [];
  const reads: string[] = [];
  const writes: string[] = [];
  const unknown: string[] = [];
  const result = { runs, reads, writes, unknown, environment: script.includes("ENVIRON") };
  // Without one of these it can do nothing but read and print, whatever is text in it.
  if (!/system|getline|[|>@]|ARG[VC]|SYMTAB|\\\r?\n/.test(script)) return result;
  const all = tokens(script);
  if (all === undefined) {
    unknown.push("is given a program that is not understood");
    return result;
  }
  /** The value of a single string at a token. */
  const alone = (index: number): string | undefined => {
    const here = all[index];
    return here?.kind === "text" && isEnd(all[index + 1]) ? stringValue(here.text) : undefined;
  };
  const note = (value: string | undefined, list: string[], what: string): void => {
    if (value === undefined) unknown.push(what);
    else list.push(value);
  };
  let depth = 0;
  let printing = -1;
  all.forEach(({ kind, text }, index) => {
    const next = all[index + 1];
    if (kind === "word") {
      if (text === "print" || text === "printf") printing = depth;
      if (text === "system") {
        const known = next?.text === "(" && all[index + 3]?.text === ")";
        note(known ? alone(index + 2) : undefined, runs, "runs a command that is not known");
      }
      if (/^(?:ARG[VC]|SYMTAB)$/.test(text)) unknown.push("changes or shows which files it reads");
      if (text === "getline") {
        const rest = all.slice(index + 1);
        const from = rest.findIndex((each) => each.text === "<");
        const stop = rest.findIndex(isEnd);
        if (from !== -1 && (stop === -1 || from < stop))
          note(alone(index + 2 + from), reads, "reads a file that is not known");
      }
    } else if (kind === "sign") {
      if (text === "(") depth++;
      if (text === ")") depth--;
      if (text === ";" || text === "}") printing = -1;
      if (text === "@") unknown.push("calls or loads something that is not known");
      if (text === "|" || text === "|&") {
        const last = all[index - 1];
        const isFirst = index === 1 || /^[{;(!]$|^&&$|^\|\|$/.test(all[index - 2]?.text ?? "\n");
        const value = last?.kind === "text" && isFirst ? stringValue(last.text) : undefined;
        if (next?.text === "getline") note(value, runs, "runs a command that is not known");
        else note(alone(index + 1), runs, "runs a command that is not known");
      }
      if ((text === ">" || text === ">>") && printing !== -1 && depth <= printing)
        note(alone(index + 1), writes, "writes a file whose name is not known");
    }
  });
  return result;
};
