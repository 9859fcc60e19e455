import { displayText } from "../display.ts";
import { roundedNumber } from "../json/exact-numbers.ts";

/** How one answer of a model ended. */
export interface ModelEnding {
  /** As the AI SDK names it: `stop`, `tool-calls`, `error`, … */
  readonly reason: string;
  /** As the provider names it. */
  readonly rawReason?: string | undefined;
  /** The calls of tools in it. */
  readonly calls: number;
  /** Whether it says anything but thoughts. */
  readonly hasText: boolean;
}

/** What providers write when the model, or the server that runs it, failed in the middle. */
const brokenReason = /^(?:error|failed|malformed|unexpected_tool_call|invalid_tool)/i;

/** Why what came from a model is not an answer, as the end of a sentence; undefined for an answer. */
export const noAnswerReason = ({ reason, rawReason, calls, hasText }: ModelEnding): string | undefined => {
  const said = `its finish reason is ${displayText(rawReason || reason, { maxLength: 100 })}`;
  if (reason === "error" || brokenReason.test(rawReason ?? ""))
    return `the model failed while it answered: ${said}`;
  if (calls > 0) return undefined;
  if (reason === "tool-calls") return `the model announced a call of a tool and made none: ${said}`;
  return hasText ? undefined : `the model gave no answer: no text and no call, and ${said}`;
};

/** Why the arguments of a call, as the model wrote them, cannot be used; undefined where each number keeps its value. */
export const roundedInputReason = (text: string): string | undefined => {
  const rounded = roundedNumber(text);
  if (rounded === undefined) return undefined;
  const shown = displayText(rounded, { maxLength: 100 });
  return `The number ${shown} would be read as another one, ${Number(rounded)}: numbers keep their digits up to 2^53. Write it as a string, if the tool takes one.`;
};
