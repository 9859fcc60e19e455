import type { ItemData } from "@harnesskit/protocol/threads";
import { oneLine } from "../terminal/one-line.ts";
import type { Style } from "../terminal/style.ts";
import { diffLines } from "./diff-view.ts";

/** What a judge said of a call or of a prompt. */
type Judgement = NonNullable<ItemData<"tool_exec" | "user_message">["judgement"]>;

/** The quiet mark of a call that ran: which rule allowed or escalated it. */
export const ranMark = (judgement: Judgement | undefined, style: Style): string => {
  if (judgement?.rule === undefined) return "";
  const rule = `rule ${oneLine(judgement.rule, 60)}`;
  return style.dim(judgement.decision === "ask" ? ` (escalated: ${rule})` : ` (${rule})`);
};

const asText = (value: unknown): string =>
  typeof value === "string" ? value : (JSON.stringify(value, null, 2) ?? "");

const signed = (sign: string, text: string): string =>
  text
    .split("\n")
    .map((line) => `${sign}${line}`)
    .join("\n");

const isFields = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The parts of two inputs that differ, as the lines of a diff: what was asked for, then what it became. */
const differences = (requested: unknown, actual: unknown): string => {
  if (!isFields(requested) || !isFields(actual)) {
    return `${signed("-", asText(requested))}\n${signed("+", asText(actual))}`;
  }
  const names = [...new Set([...Object.keys(requested), ...Object.keys(actual)])];
  return names
    .filter((name) => JSON.stringify(requested[name]) !== JSON.stringify(actual[name]))
    .flatMap((name) => [
      ...(name in requested ? [signed("-", `${name}: ${asText(requested[name])}`)] : []),
      ...(name in actual ? [signed("+", `${name}: ${asText(actual[name])}`)] : []),
    ])
    .join("\n");
};

/** Both versions, as they are to be shown, of what a judge has changed, and why, as safe lines; none where nothing was changed. */
export const changeLines = (
  what: string,
  judgement: Judgement | undefined,
  requested: unknown,
  actual: unknown,
  style: Style,
): string[] => {
  const { modified, by } = judgement ?? {};
  if (!modified) return [];
  const rule = modified.rule === undefined ? "" : ` (rule ${oneLine(modified.rule, 60)})`;
  const why = modified.reason === undefined ? "" : `: ${oneLine(modified.reason, 300)}`;
  const head = `${what} was changed by ${oneLine(modified.by ?? by ?? "", 100)}${rule}${why}`;
  return [`  ${style.yellow("~")} ${head}`, ...diffLines(differences(requested, actual), style)];
};
