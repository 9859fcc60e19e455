import type { SessionStateOptions } from "@harnesskit/graph";
import type { ChatMessage, ChatTurnOutcome, SignalDescriptor } from "@harnesskit/protocol/chat";
import { BoundedMap, callSafely, defineLimits, HarnessError, joinKey, type LimitsOf } from "@harnesskit/wire";
import { type SentMessage, sentMessage } from "@harnesskit/wire/ui-message";
import type { ChatTransport } from "ai";
import type { ChatHarness } from "../chat-harness.ts";
import { checkHarnessChatTransportOptions } from "../option-names.ts";
import type { PendingTurn } from "../outcomes.ts";
import type { ChatFeed } from "./chat-feed.ts";
import { type FoundAnswer, findAnswers, type ToPayload } from "./find-answer.ts";
import { toUiMessages, userParts } from "./history-messages.ts";
import { LiveTurn } from "./live-turn.ts";
import type { DataPart, HarnessUIMessage, HarnessUIMessageChunk } from "./message-types.ts";
import { toUserMessage } from "./read-message.ts";
import { failureKind, TurnChunks } from "./turn-chunks.ts";

export const chatTransportLimits = defineLimits({
  /** Characters of the chunks of one turn, as JSON; a longer one goes on, and its stream ends with `buffer_full`. */
  maxTurnChars: 4 * 1024 * 1024,
  /** Messages of users that are recognised when they are sent again, with their turns. */
  maxRememberedTurns: 64,
});
export type ChatTransportLimits = LimitsOf<typeof chatTransportLimits>;

export interface HarnessChatTransportOptions {
  /** A harness of any state. */
  readonly harness: Pick<ChatHarness, "acknowledge" | "pending" | "recover" | "send" | "signal"> & {
    readonly graph: {
      getState(sessionId: string, options: SessionStateOptions): Promise<{ readonly state: unknown } | null>;
    };
  };
  /** What streams the answers of a chat graph. @default an answer comes whole at the end of its turn */
  readonly feed?: ChatFeed | undefined;
  /** Data parts for the end of a turn, such as artifacts; `final_state` needs `includeFinalState` of the harness. @default none */
  readonly dataParts?: ((outcome: ChatTurnOutcome) => readonly DataPart[]) | undefined;
  /** Makes the payload for a pause that is not an approval, from what the page gave by `addToolOutput`. @default such answers are refused */
  readonly toPayload?: ToPayload | undefined;
  /** Receives why a turn could not be run, where the page gets a fixed sentence. What it throws is ignored. @default no report */
  readonly onError?: ((error: unknown) => void) | undefined;
  /** @default see each limit */
  readonly limits?: Partial<ChatTransportLimits> | undefined;
}

type SendOptions = Parameters<ChatTransport<HarnessUIMessage>["sendMessages"]>[0];

const busy = (message: string) => new HarnessError("turn_busy", message);

/** What `useChat` talks to; the chat's id is the session's. A stream that is cancelled leaves its turn running; `abortSignal` cancels it. */
export class HarnessChatTransport implements ChatTransport<HarnessUIMessage> {
  /** `reconnectToStream` gives the whole message again. */
  readonly resumeStreamIsReplay = true;
  readonly #options: HarnessChatTransportOptions;
  readonly #limits: ChatTransportLimits;
  /** The turns that run here, by their sessions. */
  readonly #running = new Map<string, { readonly turn: LiveTurn; readonly chunks: TurnChunks }>();
  readonly #sent: BoundedMap<string, LiveTurn>;
  /** The chats whose answered turn, which no process seems to run, is gone on with. */
  readonly #recovering = new Set<string>();

  /** @internal */
  constructor(options: HarnessChatTransportOptions) {
    this.#options = options;
    this.#limits = chatTransportLimits.resolve(options.limits);
    this.#sent = new BoundedMap({ maxSize: this.#limits.maxRememberedTurns });
    options.feed?.subscribe((event) => {
      const running = event.sessionId === null ? undefined : this.#running.get(event.sessionId);
      running?.turn.add(running.chunks.event(event));
    });
  }

  /**
   * Runs a turn with the last message, where that is the user's; the same message again gives the same turn, as long as this process
   * remembers it. Where it is the assistant's, or `messageId` names one of the assistant's, resumes the pause that it answers. The
   * stream ends with the turn, or at its pause. Rejects with `invalid_argument`, `turn_busy` while a turn of the chat runs here or waits
   * for a human, `approval_not_found`, `approval_settled`, `approval_digest_mismatch`, and `unsupported` for the answer to a question
   * without `toPayload`.
   */
  async sendMessages(options: SendOptions): Promise<ReadableStream<HarnessUIMessageChunk>> {
    const { chatId, abortSignal } = options;
    const message = sentMessage(options);
    const turn =
      message.role === "assistant" ? await this.#answer(chatId, message) : await this.#send(chatId, message);
    if (abortSignal?.aborted) turn.abort.abort();
    abortSignal?.addEventListener("abort", () => turn.abort.abort(), { once: true });
    return turn.read({ whole: message.role !== "assistant" });
  }

  /** The message of the turn that runs here, again from its beginning; null where none does. */
  async reconnectToStream({
    chatId,
  }: {
    readonly chatId: string;
  }): Promise<ReadableStream<HarnessUIMessageChunk> | null> {
    return this.#running.get(chatId)?.turn.read({ whole: true }) ?? null;
  }

  /**
   * The messages of the session, with what waits for a human. Of a turn that runs here there is only what was sent:
   * `reconnectToStream` has the rest. Rejects with the errors of `getState` and of `pending`.
   */
  async readMessages({ chatId }: { readonly chatId: string }): Promise<HarnessUIMessage[]> {
    const running = this.#running.get(chatId)?.turn;
    const history = await this.#history(chatId);
    if (running) {
      const messages = toUiMessages(history);
      // A turn that runs may have stored some of its messages already.
      if (running.sent) return [...messages.slice(0, running.before), running.sent];
      return messages.at(-1)?.role === "assistant" ? messages.slice(0, -1) : messages;
    }
    const { harness, onError } = this.#options;
    const { suspended, undelivered } = await harness.pending(chatId);
    if (this.#isLeft(chatId, suspended) && !this.#recovering.has(chatId)) {
      this.#recovering.add(chatId);
      const failed = (error: unknown) => callSafely(() => onError?.(error));
      void harness
        .recover({ sessionId: chatId })
        .catch(failed)
        .finally(() => this.#recovering.delete(chatId));
    }
    const messages = toUiMessages(history, openPauses(suspended));
    for (const { invocation_id: id, turn } of undelivered) {
      if (turn.outcome !== "errored") continue;
      messages.push({
        id,
        role: "assistant",
        parts: [],
        metadata: { status: "error", error: turn.reply.content },
      });
    }
    return messages;
  }

  /** Cancels the turn of the chat that runs here. Throws `turn_not_found`; what waits for a human is not cancelled: refuse it. */
  async cancel({ chatId }: { readonly chatId: string }): Promise<void> {
    const running = this.#running.get(chatId);
    if (!running) throw new HarnessError("turn_not_found", "No turn of this chat runs.");
    running.turn.abort.abort();
  }

  /** Whether a turn was answered and does not run here: another process runs it, or has died. */
  #isLeft(chatId: string, suspended: readonly PendingTurn[]): boolean {
    return !this.#running.has(chatId) && suspended.some(({ is_signal_accepted: isAccepted }) => isAccepted);
  }

  async #send(chatId: string, sent: SentMessage): Promise<LiveTurn> {
    const message = toUserMessage(sent);
    const key = joinKey(chatId, sent.id);
    const { harness } = this.#options;
    const { suspended } = await harness.pending(chatId);
    // Before this turn runs, so that nothing of the earlier one is shown in its message.
    if (this.#isLeft(chatId, suspended)) await harness.recover({ sessionId: chatId });
    const known = this.#sent.get(key);
    if (known) return known;
    if (openPauses(suspended).length > 0) throw busy("This chat waits for an answer: give it first.");
    const chunks = new TurnChunks(`turn-of-${sent.id}`);
    const said: HarnessUIMessage = { id: sent.id, role: "user", parts: userParts(message.content) };
    const turn: LiveTurn = this.#run(chatId, chunks, said, async (signal) => {
      turn.before = toUiMessages(await this.#history(chatId)).length;
      const { undelivered } = await harness.pending(chatId);
      for (const { invocation_id } of undelivered) await harness.acknowledge(invocation_id);
      return harness.send(chatId, message, { signal });
    });
    this.#sent.set(key, turn);
    return turn;
  }

  async #answer(chatId: string, message: SentMessage): Promise<LiveTurn> {
    const { harness, toPayload } = this.#options;
    const { suspended } = await harness.pending(chatId);
    const found = findAnswers(suspended, message, toPayload);
    const history = await this.#history(chatId);
    const asked = history.slice(history.findLastIndex(({ role }) => role === "user") + 1);
    const chunks = new TurnChunks(message.id).say(asked, openPauses(suspended));
    return this.#run(chatId, chunks, undefined, (signal) => this.#signal(chatId, found, signal));
  }

  /** Gives the answers one by one; the turn as the last one left it. */
  async #signal(
    chatId: string,
    answers: readonly FoundAnswer[],
    signal: AbortSignal,
  ): Promise<ChatTurnOutcome> {
    const { harness } = this.#options;
    let turn: ChatTurnOutcome | undefined;
    for (const answer of answers) {
      const outcome = await harness.signal({ ...answer, sessionId: chatId }, { signal });
      if (outcome.outcome === "errored") return outcome;
      if (outcome.outcome === "resumed") turn = outcome.turn;
      if (outcome.outcome === "resumed" && turn?.outcome !== "suspended") {
        await harness.acknowledge(outcome.invocation_id);
        break;
      }
    }
    if (turn) return turn;
    throw new HarnessError("approval_settled", "This was answered before: load the chat again.");
  }

  /** Runs a turn and makes its chunks, whoever reads them. */
  #run(
    chatId: string,
    chunks: TurnChunks,
    said: HarnessUIMessage | undefined,
    work: (signal: AbortSignal) => Promise<ChatTurnOutcome>,
  ): LiveTurn {
    if (this.#running.has(chatId))
      throw busy("An answer of this chat is on its way: wait for it, or cancel it.");
    const turn = new LiveTurn(said, this.#limits.maxTurnChars);
    const { messageId } = chunks;
    const start: HarnessUIMessageChunk = { type: "start", messageId, messageMetadata: { status: "running" } };
    const past = chunks.past();
    if (past.length > 0) turn.addPast([start, ...past]);
    turn.add([start]);
    this.#running.set(chatId, { turn, chunks });
    const run = async () => {
      try {
        // The caller has the turn before its work begins.
        await Promise.resolve();
        const outcome = await work(turn.abort.signal);
        turn.add(chunks.outcome(outcome, this.#options.dataParts?.(outcome) ?? []));
      } catch (error) {
        turn.add(chunks.failure(error));
        if (failureKind(error) === "failed") callSafely(() => this.#options.onError?.(error));
      } finally {
        this.#running.delete(chatId);
        turn.end();
      }
    };
    void run();
    return turn;
  }

  async #history(chatId: string): Promise<readonly ChatMessage[]> {
    const state = await this.#options.harness.graph.getState(chatId, { historyLimit: 0 });
    const { messages = [] } = (state?.state ?? {}) as { readonly messages?: readonly ChatMessage[] };
    return messages;
  }
}

/** What waits for a human. */
const openPauses = (suspended: readonly PendingTurn[]): SignalDescriptor[] =>
  suspended.flatMap(({ signal_descriptor, is_signal_accepted }) =>
    is_signal_accepted ? [] : signal_descriptor,
  );

/** Makes a transport of `useChat` over a chat harness, for a server's handler. Throws `invalid_argument` for invalid options. */
export const createHarnessChatTransport = (options: HarnessChatTransportOptions): HarnessChatTransport =>
  new HarnessChatTransport(checkHarnessChatTransportOptions(options));
