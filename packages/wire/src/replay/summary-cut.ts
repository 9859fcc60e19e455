import { lengthOfMessage, lengthOfMessages, partsOf, type ReplayMessage } from "./replayed-message.ts";

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

/**
 * The same conversation without a summary where it is longer than the room: what a summary would stand for is left out, wherever it may be cut.
 * The first message of the user behind that says how many are missing.
 */
export const leaveOut = <Message extends ReplayMessage>(
  messages: readonly Message[],
  { room, prompt, summarised }: SummaryCutOptions,
): readonly Message[] => {
  if (lengthOfMessages(messages) <= room) return messages;
  const cut = summaryCut(messages, { room, prompt, summarised });
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
