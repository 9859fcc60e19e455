import { isObject } from "@harnesskit/wire/json";
import { safeLine } from "./view-lines.ts";

const counted = (count: number, one: string, many = `${one}s`): string =>
  `${count.toLocaleString("en-US")} ${count === 1 ? one : many}`;

const linesIn = (text: string): string => {
  const body = text.replace(/\n$/, "");
  return body === "" ? "no output" : counted(body.split("\n").length, "line");
};

/** Text that is JSON, as its value: what a model is given of a tool is text. */
const parsed = (output: unknown): unknown => {
  if (typeof output !== "string" || !/^\s*[[{]/.test(output)) return output;
  try {
    return JSON.parse(output) as unknown;
  } catch {
    return output;
  }
};

/** Images and files of one result that are named. */
const maxNamed = 4;

/** The type of an image, a sound or a file in MCP's form. */
const mediaTypeOf = (part: unknown): string[] => {
  if (!isObject(part) || "text" in part) return [];
  const { mimeType } = isObject(part.resource) ? part.resource : part;
  return typeof mimeType === "string" ? [safeLine(mimeType, 60)] : [];
};

/** The fields in which results commonly say how much they are, the first that is there. */
const amountOf = (result: Readonly<Record<string, unknown>>): string | undefined => {
  const { lines, text, content, matches, paths, items, bytes, created, replacements } = result;
  if (isObject(lines)) {
    const { from, to, total } = lines as Readonly<Record<string, unknown>>;
    if (typeof total === "number") {
      const isPart = typeof from === "number" && typeof to === "number" && to - from + 1 < total;
      return isPart ? `lines ${from} to ${to} of ${total}` : counted(total, "line");
    }
  }
  if (Array.isArray(matches)) return counted(matches.length, "match", "matches");
  if (Array.isArray(paths)) return counted(paths.length, "path");
  if (Array.isArray(items)) return counted(items.length, "item");
  if (typeof replacements === "number") return counted(replacements, "replacement");
  if (typeof bytes === "number") return `${created === true ? "new file, " : ""}${counted(bytes, "byte")}`;
  if (Array.isArray(content)) {
    const texts = content.flatMap((part) =>
      isObject(part) && typeof part.text === "string" ? [part.text] : [],
    );
    if (texts.length === content.length) return linesIn(texts.join("\n"));
    const media = content.flatMap(mediaTypeOf);
    if (media.length + texts.length < content.length) return counted(content.length, "part");
    const shown = media.length > maxNamed ? [counted(media.length, "file")] : media;
    return [...(texts.length === 0 ? [] : [linesIn(texts.join("\n"))]), ...shown].join(", ");
  }
  const said = text ?? content;
  return typeof said === "string" ? linesIn(said) : undefined;
};

/** How a command ended: what is 0 goes without saying. */
const endOfCommand = (result: Readonly<Record<string, unknown>>): string | undefined => {
  const { exitCode = result.exit_code, signal, stdout = "", stderr = "" } = result;
  if (result.running === true && typeof result.id === "string")
    return `runs in the background as ${safeLine(result.id, 60)}`;
  if (exitCode === undefined && signal === undefined) return undefined;
  const ending =
    typeof signal === "string"
      ? `${safeLine(signal, 20)}, `
      : exitCode === 0
        ? ""
        : `exit code ${safeLine(String(exitCode), 20)}, `;
  return `${ending}${linesIn(`${String(stdout)}${String(stderr)}`)}`;
};

/**
 * What came of a call, in a few safe words, such as `3 lines`: `output` is a value of any tool, or text that may be JSON. Empty
 * where there is nothing to say. Never throws.
 */
export const summarizeResult = (output: unknown): string => {
  const value = parsed(output);
  if (value === undefined || value === null) return "";
  if (typeof value === "string") return linesIn(value);
  if (Array.isArray(value)) return counted(value.length, "item");
  if (typeof value !== "object") return safeLine(String(value), 60);
  const result = value as Readonly<Record<string, unknown>>;
  const amount = endOfCommand(result) ?? amountOf(result);
  const isCut = result.truncated === true || result.isCut === true;
  if (amount === undefined)
    return Object.keys(result).length === 0 ? "" : counted(Object.keys(result).length, "field");
  return isCut ? `${amount}, cut` : amount;
};

export interface CallResult {
  readonly tool: string;
  readonly input?: Readonly<Record<string, unknown>> | undefined;
  /** A value, or text that may be JSON. */
  readonly output: unknown;
}

/** The fields in which tools commonly name what they work on. */
const subjects = ["command", "path", "file_path", "pattern", "url", "query"] as const;

/** A call and what came of it as one safe line, such as `read README.md, 3 lines`. Never throws. */
export const describeResult = ({ tool, input = {}, output }: CallResult): string => {
  const name = subjects.find((each) => typeof input[each] === "string");
  const subject = name === undefined ? "" : ` ${safeLine(String(input[name]).slice(0, 500), 120)}`;
  const summary = summarizeResult(output);
  return `${safeLine(tool, 80)}${subject}${summary === "" ? "" : `, ${summary}`}`;
};
