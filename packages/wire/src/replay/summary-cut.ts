import { lengthOfMessage, partsOf, type ReplayMessage } from "./replayed-message.ts";

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

/** Whether a turn begins with this message, or a step of the running turn that is not its first. */
const begins = (messages: readonly ReplayMessage[], index: number, prompt: number): boolean => {
  const { role } = messages[index] as ReplayMessage;
  return index <= prompt ? role === "user" : role === "assistant" && index > prompt + 1;
};

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
    if (!begins(messages, index, prompt) || !canCut(index)) continue;
    const stays = index > prompt ? kept + (lengths[prompt] ?? 0) : kept;
    if (best !== 0 && stays > room * keptShare) break;
    best = index;
  }
  const covered = lengths.slice(summarised, best).reduce((sum, length) => sum + length, 0);
  const gained = best > prompt ? covered - (lengths[prompt] ?? 0) : covered;
  return gained < room * minShare ? 0 : best;
};

/**
 * The same conversation without a summary where it is longer than the room: its oldest turns are left out, then the oldest steps of the running one; its
 * prompt and its last step stay. The first message of the user behind that says how many are missing. Cuts grow by quarters of the room: the
 * beginning stays the same for a while, and can be cached.
 */
export const leaveOut = <Message extends ReplayMessage>(
  messages: readonly Message[],
  { room, prompt, summarised }: SummaryCutOptions,
): readonly Message[] => {
  const lengths = messages.map(lengthOfMessage);
  const quarter = Math.max(room / 4, 1);
  let excess = Math.ceil((lengths.reduce((sum, length) => sum + length, 0) - room) / quarter) * quarter;
  let cut = summarised;
  for (let index = summarised + 1; index < messages.length && excess > 0; index++) {
    if (!begins(messages, index, prompt)) continue;
    for (; cut < index; cut++) if (cut !== prompt) excess -= lengths[cut] as number;
  }
  const kept = messages.filter((_, index) => index < summarised || index === prompt || index >= cut);
  const missing = messages.length - kept.length;
  if (missing === 0) return messages;
  const what = `${missing} earlier message${missing === 1 ? "" : "s"}`;
  const text = `[Left out of this conversation, to fit the model's context: ${what}.]`;
  const first = kept.findIndex(({ role }, index) => role === "user" && index >= summarised);
  return kept.map((message, index) =>
    index === first ? { ...message, content: [{ type: "text", text }, ...partsOf(message)] } : message,
  );
};
