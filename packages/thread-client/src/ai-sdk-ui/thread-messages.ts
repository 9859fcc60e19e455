import type { InputPart, ItemOf, Turn } from "@harnesskit/protocol/threads";
import { defined } from "@harnesskit/wire/json";
import type { ThreadClient } from "../client-options.ts";
import { readForwards, readLastSeq } from "./find-turn.ts";
import type { ThreadUIMessage } from "./message-types.ts";
import { TurnChunks } from "./turn-chunks.ts";

/** Before the id of a user's message, in the name under which it was sent. */
const namePrefix = "ui-message:";

/** The `clientRequestId` of a message, so that the same message starts one turn. */
export const requestNameOf = (messageId: string): string => `${namePrefix}${messageId}`;

type UserPart = ThreadUIMessage["parts"][number];

const toUserPart = (part: InputPart): UserPart =>
  part.type === "text"
    ? { type: "text", text: part.text }
    : defined({
        type: "file" as const,
        mediaType: part.mimeType ?? "application/octet-stream",
        url: part.uri ?? encodeURI(part.path ?? ""),
        filename: part.path,
      });

const toUserMessage = (
  { clientRequestId: name }: Turn,
  { itemId, data }: ItemOf<"user_message">,
): ThreadUIMessage => ({
  id: name?.startsWith(namePrefix) ? name.slice(namePrefix.length) : itemId,
  role: "user",
  parts: (data?.content ?? []).map(toUserPart),
});

export interface ReadMessagesOptions {
  /** Events of the thread that are read, the latest ones; a turn that began before them is left out. @default 20000 */
  readonly maxEvents?: number | undefined;
}

/**
 * The messages of a thread, for the `messages` of `useChat`. Of a turn that runs, or waits for a human, there is only what the user
 * said: `resumeStream` brings the rest. Rejects as `subscribe` and `getThread`.
 */
export const readThreadMessages = async (
  client: Pick<ThreadClient, "getThread" | "subscribe">,
  threadId: string,
  { maxEvents = 20_000 }: ReadMessagesOptions = {},
): Promise<ThreadUIMessage[]> => {
  const lastSeq = await readLastSeq(client, threadId);
  const turns = new Map<
    string,
    { readonly turn: Turn; readonly chunks: TurnChunks; said: ThreadUIMessage[] }
  >();
  const past = readForwards(client, threadId, Math.max(0, lastSeq - maxEvents), lastSeq);
  for await (const event of past) {
    if (!("turnId" in event.data)) continue;
    const { turnId } = event.data;
    if (event.type === "turn.started")
      turns.set(turnId, { turn: event.data.turn, chunks: new TurnChunks(turnId), said: [] });
    const known = turns.get(turnId);
    if (!known) continue;
    known.chunks.push(event);
    if (event.type !== "item.started" && event.type !== "item.completed") continue;
    const { item } = event.data;
    if (item.type === "user_message") known.said = [toUserMessage(known.turn, item)];
  }
  // Without the answer of a turn that runs: resuming its stream brings that.
  return [...turns.values()].flatMap(({ chunks, said }) =>
    chunks.isEnded ? [...said, chunks.message] : said,
  );
};
