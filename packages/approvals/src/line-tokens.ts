/** A piece of a line; the pieces of a line, put together, are the line. */
export interface Token {
  readonly kind:
    | "plain"
    | "program"
    | "string"
    | "operator"
    | "variable"
    | "flag"
    | "comment"
    | "key"
    | "number";
  readonly text: string;
}

const shellPieces =
  /(?<space>\s+)|(?<comment>#.*)|(?<string>\$?'(?:[^'\\]|\\.)*'?|\$?"(?:[^"\\]|\\.)*"?|`[^`]*`?)|(?<operator>\d?(?:&>>?|>>?|<<<?|>&|<&|>\||<)|\|\||&&|;;|[|&;(){}]|\$\()|(?<variable>\$(?:\{[^}]*\}?|\w+|[?!#$@*-]))|(?<word>(?:\\.|[^\s'"`|&;<>(){}$#\\]|(?<=\S)#)+)|(?<rest>[\s\S])/gu;

const shellWords = new Set(
  "if then else elif fi for in do done while until case esac function select time !".split(" "),
);
/** Programs that run another one: the next word is a program too. */
const runners = new Set("sudo env exec nohup xargs time command nice doas".split(" "));
/** After these a program follows. */
const opensCommand = /^(?:\|\|?|&&?|;;?|\(|\{|\$\()$/;

/** The pieces of a shell command's line, for colours alone: nothing is decided by them. */
const shellTokens = (line: string): readonly Token[] => {
  const tokens: Token[] = [];
  let expectsProgram = true;
  for (const { groups = {}, 0: text } of line.matchAll(shellPieces)) {
    if (groups.space !== undefined || groups.rest !== undefined) tokens.push({ kind: "plain", text });
    else if (groups.comment !== undefined) tokens.push({ kind: "comment", text });
    else if (groups.operator !== undefined) {
      tokens.push({ kind: "operator", text });
      expectsProgram = opensCommand.test(text);
    } else if (groups.variable !== undefined) {
      tokens.push({ kind: "variable", text });
      expectsProgram = false;
    } else if (groups.string !== undefined) {
      tokens.push({ kind: "string", text });
      expectsProgram = false;
    } else if (shellWords.has(text)) {
      tokens.push({ kind: "operator", text });
      expectsProgram = true;
    } else if (expectsProgram && /^\w+=/.test(text)) tokens.push({ kind: "variable", text });
    else if (expectsProgram) {
      tokens.push({ kind: "program", text });
      expectsProgram = runners.has(text);
    } else tokens.push({ kind: text.startsWith("-") ? "flag" : "plain", text });
  }
  return tokens;
};

const jsonPieces =
  /(?<key>"(?:[^"\\]|\\.)*"(?=\s*:))|(?<string>"(?:[^"\\]|\\.)*"?)|(?<number>-?\d[\d.eE+-]*|\b(?:true|false|null)\b)|(?<plain>[^"\d-]+|[\s\S])/gu;

/** The pieces of a line of JSON. */
const jsonTokens = (line: string): readonly Token[] =>
  [...line.matchAll(jsonPieces)].map(({ groups = {}, 0: text }) => {
    if (groups.key !== undefined) return { kind: "key", text };
    if (groups.string !== undefined) return { kind: "string", text };
    return { kind: groups.number === undefined ? "plain" : "number", text };
  });

/** What a part of a view is. */
type PartKind = "command" | "prompt" | "diff" | "input";

const kinds: ReadonlyMap<string, PartKind> = new Map([
  ["sh", "command"],
  ["bash", "command"],
  ["shell", "command"],
  ["console", "command"],
  ["json", "input"],
  ["diff", "diff"],
]);

/** How code is drawn whose language a fence of Markdown names; undefined for a language that is not known. */
export const codeKind = (language: string): PartKind | undefined => kinds.get(language.toLowerCase());

/** The pieces of a line of a view's part, for colours alone; together they are the line. */
export const lineTokens = (kind: PartKind, line: string): readonly Token[] => {
  if (kind === "command") return shellTokens(line);
  return kind === "input" ? jsonTokens(line) : [{ kind: "plain", text: line }];
};
