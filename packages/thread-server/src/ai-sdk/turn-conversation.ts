import type { Item, Summary } from "@harnesskit/protocol/threads";
import { summaryMessage } from "@harnesskit/wire/replay";
import type { ModelMessage } from "ai";
import type { FileParts } from "./attached-files.ts";
import { type PlacedMessage, toModelMessages } from "./model-messages.ts";

interface Said {
  readonly text: string;
  readonly summary: Summary;
}

const saidSummary = (item: Item): Said | undefined =>
  item.type === "assistant_message" && item.data?.summary
    ? { text: item.data.text, summary: item.data.summary }
    : undefined;

/** What a history holds for the model: its last summary, and the items that this does not stand for. */
export const givenHistory = (history: readonly Item[]): { readonly said?: Said; readonly items: Item[] } => {
  const said = history.map(saidSummary).findLast((each) => each !== undefined);
  const plain = history.filter((item) => saidSummary(item) === undefined);
  if (!said) return { items: plain };
  const { turnId, step } = said.summary;
  const begins = plain.findIndex((item) => item.turnId === turnId);
  const isCovered = (item: Item, index: number): boolean => {
    if (index < begins || item.turnId !== turnId) return index < begins;
    if (step === undefined) return true;
    if (item.type !== "assistant_message" && item.type !== "tool_exec") return false;
    return (item.data?.step ?? 0) <= step;
  };
  return { said, items: plain.filter((item, index) => !isCovered(item, index)) };
};

/** What the model is given in a turn: a summary, where there is one, and what was said since. */
export class TurnConversation {
  readonly #turnId: string;
  #said: Said | undefined;
  #placed: PlacedMessage[];

  constructor(turnId: string, { said, items }: ReturnType<typeof givenHistory>, files?: FileParts) {
    this.#turnId = turnId;
    this.#said = said;
    this.#placed = toModelMessages(items, files);
  }

  get messages(): ModelMessage[] {
    const messages = this.#placed.map(({ message }) => message);
    return this.#said ? [summaryMessage(this.#said.text, this.#said.summary), ...messages] : messages;
  }

  /** What the last summary stands for. */
  get summary(): Summary | undefined {
    return this.#said?.summary;
  }

  /** How many messages at the beginning are a summary. */
  get summarised(): number {
    return this.#said ? 1 : 0;
  }

  /** Which message is the turn's prompt; behind the last one where the turn has none. */
  get prompt(): number {
    const index = this.#placed.findLastIndex(
      ({ turnId, step }) => turnId === this.#turnId && step === undefined,
    );
    return index < 0 ? this.messages.length : index + this.summarised;
  }

  /** Adds what was said in a step of the turn. */
  add(step: number, messages: readonly ModelMessage[]): void {
    this.#placed.push(...messages.map((message) => ({ turnId: this.#turnId, step, message })));
  }

  /** The messages before this one that a summary is to stand for, the prompt left out, and where they end. */
  before(cut: number): { readonly messages: ModelMessage[]; readonly end: Pick<Summary, "turnId" | "step"> } {
    const { prompt } = this;
    const { turnId, step } = this.#placed[cut - this.summarised - 1] as PlacedMessage;
    const messages = this.messages.slice(0, cut).filter((_, index) => index !== prompt);
    return { messages, end: cut > prompt ? { turnId, step } : { turnId } };
  }

  /** Puts a summary in the place of these messages. */
  replace(cut: number, text: string, summary: Summary): void {
    const { prompt } = this;
    const asked =
      cut > prompt ? this.#placed.slice(prompt - this.summarised, prompt - this.summarised + 1) : [];
    this.#placed = [...asked, ...this.#placed.slice(cut - this.summarised)];
    this.#said = { text, summary };
  }
}
