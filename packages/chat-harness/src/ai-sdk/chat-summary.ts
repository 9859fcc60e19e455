import type { ChatMessage } from "@harnesskit/protocol/chat";
import type { MediaPlace } from "@harnesskit/wire/model";
import { summaryMessage } from "@harnesskit/wire/replay";
import type { ModelMessage, ToolResultPart } from "ai";
import * as z from "zod";
import { allPieces, callsOf, isStep, type Piece, piecesToAnswer } from "./arrange-history.ts";
import { toPromptPieces } from "./to-model-messages.ts";

/** What the model is given in the place of the oldest messages of a conversation, which the session keeps. */
export const ChatSummarySchema = z.object({
  text: z.string(),
  /** It stands for the messages of the history before this one. */
  through: z.int().positive(),
  /** How many messages of the user and the assistant, and calls of tools, it stands for. */
  messages: z.int().nonnegative(),
  calls: z.int().nonnegative(),
});
export type ChatSummary = z.infer<typeof ChatSummarySchema>;

/** A message for the model, and the piece of the history that it is of. */
interface PlacedMessage {
  readonly message: ModelMessage;
  readonly piece: number;
}

/** What a model is shown of a history: a summary, where there is one, and what was said since. */
export class ChatContext {
  readonly summary: ChatSummary | null;
  /** How many messages at the beginning are a summary. */
  readonly summarised: number;
  readonly #pieces: readonly Piece[];
  readonly #placed: readonly PlacedMessage[];
  readonly #places: ReadonlyMap<ChatMessage, number>;
  readonly #note: string | null;

  /**
   * `note` follows, for the model, the message that began the turn; `isWhole`: everything that was said, and not what the turn of the last
   * message is about. Throws a `ChatModelError` for a history that no model can be shown.
   */
  constructor(
    history: readonly ChatMessage[],
    summary: ChatSummary | null,
    {
      note,
      isWhole,
      mediaPlace,
    }: {
      readonly note: string | null;
      readonly isWhole: boolean;
      readonly mediaPlace?: MediaPlace | undefined;
    },
  ) {
    this.summary = summary;
    this.#note = note;
    this.summarised = summary === null ? 0 : 1;
    this.#places = new Map(history.map((message, index) => [message, index]));
    const given = givenMessages(history, summary);
    this.#pieces = isWhole ? allPieces(given) : piecesToAnswer(given);
    this.#placed = toPromptPieces(this.#pieces, mediaPlace).flatMap((messages, piece) => {
      this.#refer(messages, piece);
      return messages.map((message) => ({ message, piece }));
    });
  }

  get messages(): ModelMessage[] {
    const prompt = this.prompt - this.summarised;
    const messages = this.#placed.map(({ message }, index) =>
      index === prompt && this.#note !== null ? withNote(message, this.#note) : message,
    );
    return this.summary === null ? messages : [summaryMessage(this.summary.text, this.summary), ...messages];
  }

  /** Which message began the turn. */
  get prompt(): number {
    const index = this.#placed.findLastIndex(({ message: { role }, piece }) => {
      return role === "user" && !isStep(this.#pieces[piece] as Piece);
    });
    return (index < 0 ? this.#placed.length : index) + this.summarised;
  }

  /** Whether a summary may stand for all messages before this one: no call among them waits, and none of the history between them is kept from the model. */
  canCut(index: number): boolean {
    const { piece } = this.#placed[index - this.summarised] as PlacedMessage;
    if (this.#placed[index - this.summarised - 1]?.piece === piece) return false;
    const covered = this.#pieces.slice(0, piece);
    const isWaiting = (each: Piece) => isStep(each) && callsOf(each.message).length > each.results.size;
    if (covered.some(isWaiting)) return false;
    const since = this.summary?.through ?? 0;
    const places = covered.flatMap((each) => this.#placesOf(each)).filter((place) => place >= since);
    return Math.max(since - 1, ...places) + 1 - since === places.length;
  }

  /** The messages that a summary is to stand for, with the one before. The prompt is not among them, unless nothing stays behind it. */
  before(cut: number): ModelMessage[] {
    const { messages, prompt } = this;
    return cut === messages.length ? messages : messages.slice(0, cut).filter((_, index) => index !== prompt);
  }

  /** The message of the history up to which such a summary stands. */
  through(cut: number): number {
    const piece = this.#placed[cut - this.summarised]?.piece ?? this.#pieces.length;
    const places = this.#pieces.slice(0, piece).flatMap((each) => this.#placesOf(each));
    return Math.max(this.summary?.through ?? 0, ...places.map((place) => place + 1));
  }

  #placesOf(piece: Piece): number[] {
    const messages = isStep(piece) ? [piece.message, ...piece.results.values()] : [piece];
    return messages.map((message) => this.#places.get(message) ?? 0);
  }

  /** Gives each result the id by which its output is read again. */
  #refer(messages: readonly ModelMessage[], piece: number): void {
    const step = this.#pieces[piece];
    if (step === undefined || !isStep(step)) return;
    for (const { role, content } of messages) {
      if (role !== "tool") continue;
      for (const part of content as ToolResultPart[]) {
        const result = step.results.get(part.toolCallId);
        if (result) Object.assign(part, { reference: String(this.#places.get(result)) });
      }
    }
  }
}

/** The message that began a turn, with the note that follows it. */
const withNote = (message: ModelMessage, text: string): ModelMessage => {
  if (message.role !== "user") return message;
  const { content } = message;
  const parts = typeof content === "string" ? [{ type: "text" as const, text: content }] : content;
  return { ...message, content: [...parts, { type: "text", text }] };
};

/** The messages that a summary does not stand for, with the one that began their turn. */
const givenMessages = (
  history: readonly ChatMessage[],
  summary: ChatSummary | null,
): readonly ChatMessage[] => {
  if (summary === null) return history;
  const since = history.slice(summary.through);
  if (since[0]?.role !== "assistant") return since;
  const asked = history.slice(0, summary.through).findLast(({ role }) => role === "user");
  return asked === undefined ? since : [asked, ...since];
};
