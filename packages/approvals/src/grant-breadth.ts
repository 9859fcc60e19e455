import type { FieldPattern, GrantTerms } from "@harnesskit/protocol/hub";
import { commandProblem } from "./command-start.ts";
import { quoted } from "./view-lines.ts";

/** Fields whose value a shell or an interpreter runs. */
export const runFields: ReadonlySet<string> = new Set(["command", "cmd", "script", "code"]);

const webAddress = /^[a-z][a-z\d+.-]*:\/\//i;
const wholeHost = /^[a-z][a-z\d+.-]*:\/\/[^/@\s]+\//i;

/** Whether a path is not read as another one. */
export const isPlainPath = (path: string): boolean =>
  !/[\\\p{Cc}]|\/\//u.test(path) && !path.split("/").some((part) => part === ".." || part === ".");

const fieldProblem = (name: string, pattern: FieldPattern): string | undefined => {
  const isRun = runFields.has(name);
  if ("any" in pattern) return isRun ? "it is every command: the policy is the place for that" : undefined;
  if ("under" in pattern) {
    if (!isPlainPath(pattern.under)) return "under must be a path without //, . and ..";
    return pattern.under === "/" ? "it is every path of the machine" : undefined;
  }
  if (!("startsWith" in pattern)) return undefined;
  const { startsWith } = pattern;
  if (startsWith.trim() === "") return "it says nothing about the value";
  if (webAddress.test(startsWith) && !wholeHost.test(startsWith))
    return "the address's host may go on: end it with /";
  return isRun ? commandProblem(startsWith) : undefined;
};

const fieldWarning = (name: string, pattern: FieldPattern): string | undefined => {
  if ("under" in pattern) {
    const parts = pattern.under.split("/").filter((part) => part !== "");
    return pattern.under.startsWith("/") && parts.length === 1
      ? `${quoted(pattern.under)} is a directory of the system, with all that is in it`
      : undefined;
  }
  if (!("startsWith" in pattern)) return undefined;
  const { startsWith } = pattern;
  if (runFields.has(name)) {
    const what = `any ${startsWith.trim().includes(" ") ? "further " : ""}option, file and address`;
    return `${quoted(startsWith)} may go on with ${what} as arguments`;
  }
  return /[\s/=:]$/.test(startsWith)
    ? undefined
    : `${quoted(startsWith)} may go on within the same word, such as ${quoted(`${startsWith}-x`)}`;
};

const fieldPatterns = ({ match }: Pick<GrantTerms, "match">): [string, FieldPattern][] =>
  "input" in match ? Object.entries(match.input) : [];

/** Why terms are refused because they allow far more than they say, in words; undefined where they are not. */
export const breadthProblem = (terms: Pick<GrantTerms, "match">): string | undefined => {
  for (const [name, pattern] of fieldPatterns(terms)) {
    const problem = fieldProblem(name, pattern);
    if (problem !== undefined) return `the pattern of ${quoted(name)} allows too much: ${problem}`;
  }
  return undefined;
};

/** What a human should notice before giving a grant, as safe lines. */
export const breadthWarnings = (terms: Pick<GrantTerms, "match">): readonly string[] => {
  const fields = fieldPatterns(terms);
  if (fields.length > 0 && fields.every(([, pattern]) => "any" in pattern))
    return ["every call of this tool is allowed, whatever its input"];
  return fields.flatMap(([name, pattern]) => fieldWarning(name, pattern) ?? []);
};
