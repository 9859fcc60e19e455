import type { Style } from "./style.ts";
import { oneLine } from "./text.ts";

/** What was said last in a conversation: untrusted text. */
export interface Exchange {
  /** @default it has no name */
  readonly title?: string | undefined;
  readonly prompt: string;
  /** Empty where there is none. */
  readonly answer: string;
}

const maxAnswerLines = 6;
const maxWidth = 500;

/** The name of a conversation and what was said in it last, as safe lines: of a long answer its end. */
export const exchangeLines = ({ title, prompt, answer }: Exchange, style: Style): string[] => {
  const said = answer.trim() === "" ? [] : answer.trim().split("\n");
  const left = Math.max(0, said.length - maxAnswerLines);
  return [
    ...(title === undefined ? [] : [style.dim(`going on with “${oneLine(title, 100)}”`)]),
    ...(prompt === "" ? [] : [`› ${style.bold(oneLine(prompt, maxWidth))}`]),
    ...(left === 0 ? [] : [style.dim(`… ${left} more ${left === 1 ? "line" : "lines"}`)]),
    ...said.slice(left).map((line) => style.dim(oneLine(line, maxWidth))),
  ];
};
