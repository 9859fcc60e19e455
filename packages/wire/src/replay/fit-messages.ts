import { lengthOfMessage, lengthOfMessages } from "./message-length.ts";
import { type MendedMessage, partsOf } from "./replayed-message.ts";

const withNote = (messages: readonly MendedMessage[], dropped: number): MendedMessage[] => {
  if (dropped === 0) return [...messages];
  const what = `${dropped} earlier message${dropped === 1 ? "" : "s"}`;
  const text = `[Left out of this conversation, to fit the model's context: ${what}.]`;
  const first = messages.findIndex(({ role }) => role === "user");
  return messages.map((message, index) =>
    index === first ? { ...message, content: [{ type: "text", text }, ...partsOf(message)] } : message,
  );
};

/**
 * The same conversation in at most about `maxLength` characters, without a summary. The oldest turns go first, then the oldest steps of
 * the last turn; its user's message and its last step stay. A note before the first message says how many are missing. Cuts grow by quarters of the
 * room, as those of `shortenOutputs`.
 */
export const fitMessages = (
  messages: readonly MendedMessage[],
  maxLength: number,
): readonly MendedMessage[] => {
  const quarter = Math.max(maxLength / 4, 1);
  let excess = Math.ceil((lengthOfMessages(messages) - maxLength) / quarter) * quarter;
  const isDropped = new Set<number>();
  const drop = (from: number, to: number): void => {
    for (let index = from; index < to; index++) {
      isDropped.add(index);
      excess -= lengthOfMessage(messages[index] as MendedMessage);
    }
  };
  const starts = (role: string, after: number) =>
    messages.flatMap((message, index) => (index > after && message.role === role ? index : []));
  const turns = starts("user", -1);
  const steps = starts("assistant", turns.at(-1) ?? -1);
  for (const begins of [turns, steps]) {
    for (let next = 1; next < begins.length && excess > 0; next++) {
      drop(begins[next - 1] as number, begins[next] as number);
    }
  }
  return withNote(
    messages.filter((_, index) => !isDropped.has(index)),
    isDropped.size,
  );
};
