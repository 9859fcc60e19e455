import type { JSONObject } from "@ai-sdk/provider";
import { maxInstructions, maxRequestChars } from "./limits.ts";

/** One thing that a request asks for. */
export type Instruction =
  | { readonly kind: "list"; readonly directory?: string | undefined }
  | { readonly kind: "read"; readonly path: string }
  | { readonly kind: "search"; readonly text: string; readonly directory?: string | undefined }
  | { readonly kind: "run"; readonly command: string }
  | { readonly kind: "edit"; readonly path: string; readonly oldText: string; readonly newText: string }
  | { readonly kind: "write"; readonly path: string; readonly content: string }
  /** `tool` is as the user names it: an agent's id and the tool's name, or the name alone. */
  | { readonly kind: "use"; readonly tool: string; readonly input: JSONObject }
  | { readonly kind: "describe" }
  | { readonly kind: "test" }
  | { readonly kind: "unknown"; readonly text: string };

/** An instruction of one kind. */
export type InstructionOf<Kind extends Instruction["kind"]> = Extract<Instruction, { kind: Kind }>;

/** What a request says. */
export interface ParsedRequest {
  readonly instructions: readonly Instruction[];
  /** How many more than {@link maxInstructions} it had. */
  readonly leftOut: number;
  /** It exceeds {@link maxRequestChars}: nothing of it is read. */
  readonly tooLong: boolean;
}

const quoted = '"[^"\\n]*"|`[^`\\n]*`';
const place = `(?:${quoted}|[^\\s"\`]+)`;
const head =
  "(?:list files|read \\S|search for |run the (?:command|tests)|edit \\S|write \\S|describe |use the tool )";
/** What is not looked into for the start of the next instruction. */
const protectedText = /```[\s\S]*?```|"[^"\n]*"|`[^`\n]*`|(?<!\w)'[^'\n]*'(?!\w)/g;
/** Between two instructions: "then", or a new line. */
const joint = new RegExp(
  `[,;.]?\\s{1,4}(?:and )?then\\s{1,4}(?:please )?(?=${head})|\\n\\s{0,4}(?:please )?(?=${head})`,
  "gi",
);

const pattern = (source: string) => new RegExp(`^${source}$`, "is");
const end = "[.!?]?";

type Read = (groups: Readonly<Record<string, string | undefined>>) => Instruction | undefined;

/** The forms of all instructions, in the order in which they are tried. */
const forms: readonly (readonly [RegExp, Read])[] = [
  [
    pattern(`list files(?: in (?<at>${place}))?${end}`),
    ({ at }) => ({ kind: "list", directory: at && pathOf(at) }),
  ],
  [pattern(`read (?<at>${place})${end}`), ({ at = "" }) => ({ kind: "read", path: pathOf(at) })],
  [
    pattern(`search for (?<text>${quoted}|[^"\`]{1,1000}?)(?: in (?<at>${place}))?${end}`),
    ({ text = "", at }) => ({ kind: "search", text: bare(text), directory: at && pathOf(at) }),
  ],
  [pattern(`run the tests${end}`), () => ({ kind: "test" })],
  [
    pattern("run the command:? ?(?<command>.*\\S.*)"),
    ({ command = "" }) => ({ kind: "run", command: bare(command.trim().replace(/(?<=`)\.$/, "")) }),
  ],
  [
    pattern(`edit (?<at>${place}): replace (?<old>${quoted}|.+?) with (?<next>.*)`),
    ({ at = "", old = "", next = "" }) =>
      // Without quotes it could be read in more than one way.
      bare(old) === "" || (bare(old) === old && / with /i.test(next))
        ? undefined
        : { kind: "edit", path: pathOf(at), oldText: bare(old), newText: bare(next) },
  ],
  [
    pattern(`write (?<at>${place}):\\s?(?<content>.+)`),
    ({ at = "", content = "" }) => ({ kind: "write", path: pathOf(at), content: bare(content.trim()) }),
  ],
  [pattern(`describe this (?:repository|project|directory)${end}`), () => ({ kind: "describe" })],
  [
    pattern(
      `use the tool (?<name>[\\w.:/-]{1,260}(?: (?!with\\b)[\\w.:-]{1,128})?)(?: with (?<json>\\{.*\\}))?${end}`,
    ),
    ({ name = "", json = "{}" }) => {
      const input = parseObject(json);
      return input && { kind: "use", tool: name.replace(/[.:]+$/, ""), input };
    },
  ],
];

/** Text without the quotes, backticks or fences that enclose all of it. */
const bare = (text: string): string => {
  const fenced = /^```[\w+.-]*\n([\s\S]*?)\n?```$/.exec(text)?.[1];
  return (
    fenced ??
    /^(?:"([^"\n]*)"|`([^`]*)`)$/
      .exec(text)
      ?.slice(1)
      .find((inner) => inner !== undefined) ??
    text
  );
};

const pathOf = (text: string): string => {
  const path = bare(text);
  // `@PATH` is how users attach a file; a name that begins with @ is written in quotes.
  return path === text ? path.replace(/^@(?=.)/, "").replace(/(?<=\w)[.!?]+$/, "") : path;
};

const parseObject = (json: string): JSONObject | undefined => {
  try {
    return JSON.parse(json) as JSONObject;
  } catch {
    return undefined;
  }
};

const parseClause = (text: string): Instruction => {
  for (const [form, read] of forms) {
    const match = form.exec(text);
    const instruction = match && read(match.groups ?? {});
    if (instruction) return instruction;
  }
  return { kind: "unknown", text };
};

/**
 * Reads a request: instructions in fixed forms, separated by "then" or new lines. It is split only where a known
 * form begins, and never inside quotes, backticks and fences.
 */
export const parseRequest = (request: string): ParsedRequest => {
  if (request.length > maxRequestChars) return { instructions: [], leftOut: 0, tooLong: true };
  const masked = request.replace(protectedText, (text) => "x".repeat(text.length));
  const clauses: string[] = [];
  let from = 0;
  for (const { 0: between, index } of masked.matchAll(joint)) {
    clauses.push(request.slice(from, index));
    from = index + between.length;
  }
  clauses.push(request.slice(from));
  const wanted = clauses
    .map((clause) => clause.trim().replace(/^please /i, ""))
    .filter((clause) => clause !== "");
  return {
    instructions: wanted.slice(0, maxInstructions).map(parseClause),
    leftOut: Math.max(0, wanted.length - maxInstructions),
    tooLong: false,
  };
};
