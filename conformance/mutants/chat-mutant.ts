import type { ChatDeviation } from "./reference-chat.ts";
import type { Json } from "./reference-script.ts";

/** A chat harness with one deviation, and the requirements of which at least each has a check that notices it. */
export interface ChatMutant extends ChatDeviation {
  readonly name: string;
  readonly kills: readonly string[];
}

export const skip = (rule: string, ...kills: string[]): ChatMutant => ({
  name: `without ${rule}`,
  kills,
  skip: rule,
});

export const without = (value: Json, name: string): Json =>
  Object.fromEntries(Object.entries(value).filter(([key]) => key !== name));
