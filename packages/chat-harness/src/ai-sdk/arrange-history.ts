import type { AssistantMessage, ChatMessage, ToolCall, ToolMessage } from "@harnesskit/protocol/chat";
import { ChatModelError } from "./to-model-error.ts";

/** What the assistant said in one step, and the results of its calls that there are, by the calls' ids. */
export interface Step {
  readonly message: AssistantMessage;
  readonly results: Map<string, ToolMessage>;
}

/** A piece of a conversation: something the user or the system said, or a step of the assistant. */
export type Piece = Exclude<ChatMessage, AssistantMessage | ToolMessage> | Step;

/** All that one turn is about, in order, what it added after a pause included. */
type Turn = Piece[];

export const isStep = (piece: Piece): piece is Step => !("role" in piece);

export const callsOf = ({ tool_calls: calls }: AssistantMessage): readonly ToolCall[] => calls ?? [];

/**
 * Puts the messages, which are stored as they arrived, in the order in which a model takes them: the result of a call right behind
 * it, and what a resumed turn added behind that, before what was said while the turn waited. A second result of a call is left out.
 * Returns them by turns, and the turn that the last message belongs to. Throws `provider_invalid_request` for a result of no call.
 */
const arrange = (
  messages: readonly ChatMessage[],
): { readonly turns: readonly Turn[]; readonly current: Turn | undefined } => {
  const turns: Turn[] = [];
  const open = new Map<string, { readonly turn: Turn; readonly step: Step }>();
  const answered = new Set<string>();
  let current: Turn | undefined;
  const begin = (): Turn => {
    current = [];
    turns.push(current);
    return current;
  };
  for (const message of messages) {
    if (message.role === "tool") {
      const { tool_call_id: id } = message;
      const call = open.get(id);
      if (call === undefined && answered.has(id)) continue;
      if (call === undefined) {
        const message = "a message of a tool answers a call that does not exist";
        throw new ChatModelError("provider_invalid_request", message);
      }
      call.step.results.set(id, message);
      open.delete(id);
      answered.add(id);
      current = call.turn;
    } else if (message.role === "assistant") {
      const turn = current ?? begin();
      const step: Step = { message, results: new Map() };
      turn.push(step);
      for (const { id } of callsOf(message)) open.set(id, { turn, step });
    } else {
      begin().push(message);
    }
  }
  return { turns, current };
};

/**
 * What the model is shown for the turn that the last message belongs to: all turns before it, and itself. Of a resumed
 * turn, that leaves out what was said while it waited: it answers what it was asked.
 */
export const piecesToAnswer = (messages: readonly ChatMessage[]): readonly Piece[] => {
  const { turns, current } = arrange(messages);
  return turns.slice(0, current === undefined ? 0 : turns.indexOf(current) + 1).flat();
};

/** All that was said, each turn whole. */
export const allPieces = (messages: readonly ChatMessage[]): readonly Piece[] =>
  arrange(messages).turns.flat();

/** What the model was shown when it asked for a call. */
export const piecesBefore = (messages: readonly ChatMessage[], callId: string): readonly Piece[] => {
  const pieces = allPieces(messages);
  const index = pieces.findLastIndex(
    (piece) => isStep(piece) && callsOf(piece.message).some(({ id }) => id === callId),
  );
  return index < 0 ? pieces : pieces.slice(0, index);
};

/** The last call with an id in a history, and what became of it. */
export interface FoundCall {
  readonly call: ToolCall;
  /** Which call of its message it is, from 1. */
  readonly place: number;
  readonly hasResult: boolean;
}

/** Finds the last call with an id, from the end of the history; undefined if the history has no such call. */
export const findCall = (messages: readonly ChatMessage[], id: string): FoundCall | undefined => {
  let hasResult = false;
  for (let index = messages.length - 1; index >= 0; index--) {
    const message = messages[index] as ChatMessage;
    if (message.role === "tool" && message.tool_call_id === id) hasResult = true;
    if (message.role !== "assistant") continue;
    const place = callsOf(message).findIndex((call) => call.id === id);
    const call = callsOf(message)[place];
    if (call !== undefined) return { call, place: place + 1, hasResult };
  }
  return undefined;
};

/** The ids of the calls in the history. */
export const callIds = (messages: readonly ChatMessage[]): Set<string> =>
  new Set(
    messages.flatMap((message) => (message.role === "assistant" ? callsOf(message).map(({ id }) => id) : [])),
  );
