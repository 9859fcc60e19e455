import type { ChatFields } from "./chat-state.ts";
import type { EngineOptions } from "./engine-options.ts";
import type { ReplyTexts } from "./reply-texts.ts";

/** How a conversation is run. */
export interface ChatHarnessOptions<F extends ChatFields> extends EngineOptions<F> {
  /** What users are told of errors. @default the texts of the specification */
  readonly replies?: ReplyTexts;
  /** Gives completed turns their `final_state`, whose `messages` are the whole history. @default false */
  readonly includeFinalState?: boolean;
  /**
   * How the end of a resumed turn reaches the user: by `listeners` alone, or with `next-send` also by the next `send`, whose outcome
   * has what no listener has taken as `resumed_turns`, ahead of the turn of its own message. @default "listeners"
   */
  readonly resumedTurns?: "listeners" | "next-send";
  /** How many characters a message may have, the data of images included. @default 20000000 */
  readonly maxMessageLength?: number;
  /** How many characters a session id may have. @default 1024 */
  readonly maxSessionIdLength?: number;
  /** How many listeners there may be, of all sessions. @default 10000 */
  readonly maxListeners?: number;
}
