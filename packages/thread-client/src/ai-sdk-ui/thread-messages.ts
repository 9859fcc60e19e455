import type { InputPart, Turn } from "@harnesskit/protocol/threads";
import { defined } from "@harnesskit/wire/json";
import type { ThreadClient } from "../client-options.ts";
import type { ThreadEvent } from "../thread-subscription.ts";
import { readForwards, readLastSeq } from "./find-turn.ts";
import { MessageFold } from "./message-fold.ts";
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

/** The messages of one turn, while its events come. */
class TurnMessages {
  readonly #turn: Turn;
  readonly #chunks: TurnChunks;
  readonly #fold = new MessageFold();
  #said: ThreadUIMessage | undefined;

  constructor(turn: Turn) {
    this.#turn = turn;
    this.#chunks = new TurnChunks(turn.turnId);
  }

  push(event: ThreadEvent): void {
    if (
      (event.type === "item.started" || event.type === "item.completed") &&
      event.data.turnId === this.#turn.turnId
    )
      this.#say(event.data.item);
    for (const chunk of this.#chunks.push(event)) this.#fold.apply(chunk);
  }

  /** Without the answer of a turn that runs: resuming its stream brings that. */
  get messages(): ThreadUIMessage[] {
    const said = this.#said ? [this.#said] : [];
    return this.#chunks.isEnded ? [...said, this.#fold.message] : said;
  }

  #say(item: { readonly type: string; readonly itemId: string; readonly data?: unknown }): void {
    if (item.type !== "user_message") return;
    const { content = [] } = (item.data ?? {}) as { readonly content?: readonly InputPart[] };
    const { clientRequestId: name } = this.#turn;
    const id = name?.startsWith(namePrefix) ? name.slice(namePrefix.length) : item.itemId;
    this.#said = { id, role: "user", parts: content.map(toUserPart) };
  }
}

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
  const turns = new Map<string, TurnMessages>();
  const past = readForwards(client, threadId, Math.max(0, lastSeq - maxEvents), lastSeq);
  for await (const event of past) {
    if (!("turnId" in event.data)) continue;
    const { turnId } = event.data;
    if (event.type === "turn.started") turns.set(turnId, new TurnMessages(event.data.turn));
    turns.get(turnId)?.push(event);
  }
  return [...turns.values()].flatMap(({ messages }) => messages);
};
