import { lengthOfMessage } from "./message-length.ts";
import type { ReplayMessage } from "./replayed-message.ts";

export interface SummaryCutOptions {
  /** Characters that there is room for. */
  readonly room: number;
  /** Which message is the running turn's prompt: it stays. */
  readonly prompt: number;
  /** How many messages at the beginning are a summary already. */
  readonly summarised: number;
  /** Whether a conversation may be cut before this message. @default everywhere */
  readonly canCut?: ((index: number) => boolean) | undefined;
}

/** What stays as it was said, of the room. */
const keptShare = 0.4;
/** A summary must stand for so much of the room at least. */
const minShare = 0.125;

/**
 * How many messages a summary is to stand for, so that the others fit well: up to the beginning of a turn, or of a step of the running turn, whose prompt
 * stays. 0 where it would not help.
 */
export const summaryCut = (messages: readonly ReplayMessage[], options: SummaryCutOptions): number => {
  const { room, prompt, summarised, canCut = () => true } = options;
  const lengths = messages.map(lengthOfMessage);
  let kept = 0;
  let best = 0;
  for (let index = messages.length - 1; index > summarised; index--) {
    kept += lengths[index] as number;
    const { role } = messages[index] as ReplayMessage;
    const begins = index <= prompt ? role === "user" : role === "assistant" && index > prompt + 1;
    if (!begins || !canCut(index)) continue;
    const stays = index > prompt ? kept + (lengths[prompt] ?? 0) : kept;
    if (best !== 0 && stays > room * keptShare) break;
    best = index;
  }
  const covered = lengths.slice(summarised, best).reduce((sum, length) => sum + length, 0);
  const gained = best > prompt ? covered - (lengths[prompt] ?? 0) : covered;
  return gained < room * minShare ? 0 : best;
};
