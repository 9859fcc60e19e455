const space = String.raw`\s{1,4}`;
const quoted = "(?:\"[^\"\\n]{0,300}\"|`[^`\\n]{0,300}`|'[^'\\n]{0,300}'|“[^”\\n]{0,300}”)";
const file = `(?:the${space})?(?:new${space})?(?:file${space})?(?:${quoted}|[^\\s:,;]{1,300})`;

/** Words in front of an instruction that carry no meaning of their own. */
export const politeWords =
  "(?:please|kindly|now|first|firstly|then|next|finally|also|and|ok|okay|hello|hi|hey|can you|could you|would you|will you|i want you to|i would like you to|let's)";

const command = `(?:run|execute)(?:\\s{0,4}:|${space}(?:the${space}|this${space}|a${space})?(?:shell${space}|bash${space})?command\\b)`;

/** The beginning of a part that is a shell command. */
export const commandHead = new RegExp(`^\\W{0,8}(?:${politeWords}[\\s,]{1,4}){0,4}${command}`, "i");

interface Head {
  readonly pattern: RegExp;
  readonly accepts?: (operand: string) => boolean;
}

const polite = `(?:${politeWords}[\\s,]{1,4}){0,4}`;
const head = (pattern: string, accepts?: Head["accepts"]): Head => ({
  pattern: new RegExp(polite + pattern, "iy"),
  ...(accepts === undefined ? {} : { accepts }),
});

/** In running text "read well" is no instruction; `read notes.md`, `read the file notes` and `read README` are. */
const looksLikeFile = (operand: string) =>
  /^(?:["'`“]|file\s)|[./]\w|^[A-Z]\w*file\b|^[A-Z]{3,}\b/.test(operand.replace(/^the\s+/i, ""));

/** What begins an instruction, whichever word joins it to the one before. */
const firmHeads: readonly Head[] = [
  head(`(?:list|show)${space}(?:me${space})?(?:all${space})?(?:of${space})?(?:the${space})?files\\b`),
  head(`read${space}((?:the${space})?(?:file${space})?[^\\s,;]{1,300})`, looksLikeFile),
  head(`(?:search|look|grep)\\s(?:[a-z]{1,12}${space}){0,5}for${space}\\S`),
  head(command),
  head(`(?:run|execute)${space}\``),
  head(`(?:run|execute)${space}(?:all${space})?(?:of${space})?(?:the${space})?(?:unit${space})?tests?\\b`),
  head(`(?:edit|in)${space}${file}\\s{0,4}(?::|,)?\\s{0,4}(?:and\\s|by\\s|to\\s)?\\s{0,4}replac`),
  head(`replace${space}${quoted}${space}(?:with|by)${space}${quoted}${space}in\\s`),
  head(`(?:write|create)${space}(?:a${space})?${file}\\s{0,4}(?::|with\\s)`),
  head(`write${space}${quoted}${space}(?:in)?to\\s`),
  head(
    `(?:describe|summari[sz]e|explain)${space}(?:this|the)${space}(?:repo|repository|project|codebase|workspace|directory|folder)\\b`,
  ),
];

/** What begins one only after "then", a new line or a number: in running text it means other things. */
const looseHeads: readonly Head[] = [...firmHeads, head(`(?:read|write|edit)${space}\\S`)];

const number = String.raw`(?:\d{1,3}[.)]|[-*•])\s{1,8}`;

/** A way to join two instructions, and what may follow it. */
export interface Joint {
  readonly pattern: RegExp;
  readonly heads: readonly Head[];
  /** Whether it also ends a shell command. */
  readonly endsCommand: boolean;
}

const joint = (pattern: string, heads: readonly Head[], endsCommand = true): Joint => ({
  pattern: new RegExp(pattern, "iy"),
  heads,
  endsCommand,
});

export const joints: readonly Joint[] = [
  joint(String.raw`\s{0,8}[,;.]?\s{0,8}(?<=[\s,;.])(?:and\s{1,4})?then[,:]?\s{1,8}`, looseHeads),
  joint(String.raw`[,;.]?\s{0,8}\r?\n\s{0,40}(?:${number})?`, looseHeads),
  joint(String.raw`[,;.]?\s{1,8}${number}`, looseHeads),
  joint(String.raw`[,;.]?\s{1,8}(?:and|also|finally|afterwards|next)[,:]?\s{1,8}`, firmHeads),
  joint(String.raw`\s{0,4},\s{1,8}`, firmHeads),
  joint(String.raw`\s{0,4}[;.]\s{1,8}`, firmHeads, false),
  // These belong to what was said, which may be the text of a file.
  joint(String.raw`(?<=[!?])\s{1,8}`, firmHeads, false),
];

/** Whether one of the heads stands at `at`. */
export function startsInstruction(text: string, at: number, heads: readonly Head[]): boolean {
  return heads.some(({ pattern, accepts }) => {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    return match !== null && (accepts === undefined || accepts(match[1] ?? ""));
  });
}
