import { allowingRule } from "@harnesskit/approvals";
import type { EventBody, ItemData } from "@harnesskit/protocol/threads";
import { displayText } from "@harnesskit/wire";
import { isObject } from "@harnesskit/wire/json";
import type { Style } from "../terminal/terminal.ts";
import { oneLine } from "../terminal/text.ts";
import { blockLines } from "./approval-lines.ts";

/** Under whom a turn ran, and what became of its prompt and its calls. */
export interface JudgedSummary {
  readonly by: string;
  readonly allowed: number;
  readonly asked: number;
  readonly blocked: number;
  readonly changed: number;
}

/** The questions of one session that a hub put to a human, and what was approved of them. */
export interface AskedAtHub {
  readonly asked: number;
  readonly approved: number;
}

const nothingAsked: AskedAtHub = { asked: 0, approved: 0 };

/** Counts what was judged in the events of a turn. */
export class JudgedCounts {
  #by: string | undefined;
  readonly #counts = { allowed: 0, asked: 0, blocked: 0, changed: 0 };

  observe(event: EventBody): void {
    if (event.type !== "item.completed") return;
    const { item } = event.data;
    if (item.type !== "tool_exec" && item.type !== "user_message") return;
    const judgement = item.data?.judgement;
    if (!judgement) return;
    this.#by = oneLine(judgement.by, 100);
    if (judgement.modified) this.#counts.changed++;
    // The prompt says under whom; what is counted is what the agent does.
    if (item.type !== "tool_exec") return;
    if (judgement.decision === "allow") this.#counts.allowed++;
    if (judgement.decision === "ask") this.#counts.asked++;
    // What a human refused at a hub was escalated; what was cancelled while it waited there was not decided.
    if (judgement.decision === "block" && item.data?.status === "blocked") this.#counts.blocked++;
  }

  /** @param atHub what a hub asked a human: it says only what came of it. @default nothing */
  summary({ asked, approved }: AskedAtHub = nothingAsked): JudgedSummary | undefined {
    if (this.#by === undefined) return undefined;
    const counts = this.#counts;
    return {
      ...{ by: this.#by, ...counts, asked: counts.asked + asked },
      allowed: Math.max(0, counts.allowed - approved),
    };
  }
}

type Judgement = NonNullable<ItemData<"tool_exec" | "user_message">["judgement"]>;

/** The quiet mark of a call that ran: which rule allowed or escalated it. */
export const ranMark = (judgement: Judgement | undefined, style: Style): string => {
  if (judgement?.rule === undefined) return "";
  const rule = `rule ${oneLine(judgement.rule, 60)}`;
  return style.dim(judgement.decision === "ask" ? ` (escalated: ${rule})` : ` (${rule})`);
};

/** How a changed policy is used by what only a hub judges. */
export const useInHub = "start the hub with it: harness hub --policy FILE";

export type BlockedCall = Pick<ItemData<"tool_exec">, "tool" | "input" | "judgement">;

/**
 * Which rule blocked a call, and how its user can allow it, as safe lines.
 *
 * @param use how a changed policy is used. @default as `harness run` does
 */
export const blockedLines = (
  { tool, input, judgement }: BlockedCall,
  style: Style,
  use = "use --policy FILE",
): string[] => {
  if (judgement?.rule === undefined) return [];
  const head = `rule ${oneLine(judgement.rule, 60)} of ${oneLine(judgement.by, 100)}`;
  const rule = allowingRule(tool, input);
  if (rule === undefined) return [`  ${style.dim(head)}`];
  const how = `${head}; to allow it, put this line above that rule in a copy of the policy, and ${use}:`;
  return [`  ${style.dim(how)}`, ...blockLines(rule, style)];
};

const asText = (value: unknown): string =>
  typeof value === "string" ? value : (JSON.stringify(value, null, 2) ?? "");

const signed = (sign: string, text: string): string =>
  text
    .split("\n")
    .map((line) => `${sign}${line}`)
    .join("\n");

const differences = (requested: unknown, actual: unknown): string => {
  if (!isObject(requested) || !isObject(actual)) {
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

/** The text of a prompt. */
export const promptText = (content: ItemData<"user_message">["content"] = []): string =>
  content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");

/** A prompt as the user wrote it: safe lines. */
export const promptLines = (content: ItemData<"user_message">["content"], style: Style): string[] =>
  content.flatMap((part) => {
    const text = part.type === "text" ? part.text : `[file ${part.path ?? part.uri ?? ""}]`;
    const lines = displayText(text, { multiline: true }).split("\n");
    return lines.map((line, index) => `${index === 0 ? "›" : " "} ${style.bold(line)}`);
  });

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
  return [`  ${style.yellow("~")} ${head}`, ...blockLines(differences(requested, actual), style, "diff")];
};
