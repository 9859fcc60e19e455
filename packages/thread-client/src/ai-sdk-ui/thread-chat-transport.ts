import type { InputPart } from "@harnesskit/protocol/threads";
import { callSafely, InvalidArgumentError, RequestCancelledError } from "@harnesskit/wire";
import { type SentMessage, sentAnswers, sentMessage } from "@harnesskit/wire/ui-message";
import type { ChatTransport } from "ai";
import type { SubmitTurnOptions, ThreadClient } from "../client-options.ts";
import { ThreadError } from "../errors.ts";
import { hasExtension } from "../extensions.ts";
import { checkThreadChatTransportOptions } from "../option-names.ts";
import { answerApprovals, type ToDecision, unknownApproval } from "./answer-approvals.ts";
import { type FoundTurn, findRunningTurn, findTurnStart, readLastSeq } from "./find-turn.ts";
import type { ThreadUIMessage, ThreadUIMessageChunk } from "./message-types.ts";
import { maxIdLength, sentSeq, toInputParts } from "./read-message.ts";
import { type ReadMessagesOptions, readThreadMessages, requestNameOf } from "./thread-messages.ts";
import { TurnReader } from "./turn-reader.ts";

export interface ThreadChatTransportOptions {
  /** A client that is connected, or connects before the first call. Its server needs `subscribe` and `clientRequestId`. */
  readonly client: Pick<
    ThreadClient,
    "capabilities" | "cancelTurn" | "getThread" | "respondApproval" | "submitTurn" | "subscribe"
  >;
  /** The thread of a chat, by the `id` of `useChat`. @default the chat's id is the thread's */
  readonly resolveThread?: ((chatId: string) => string | Promise<string>) | undefined;
  /** The model and the agent of a turn. `body` is what the page sent along: untrusted. @default the server's choice */
  readonly turnOptions?:
    | ((request: {
        readonly chatId: string;
        readonly body: unknown;
      }) => Pick<SubmitTurnOptions, "model" | "agent">)
    | undefined;
  /** @default `once` where the user approved, else `reject` */
  readonly toDecision?: ToDecision | undefined;
  /** Receives a turn that could not be cancelled when its signal aborted. What it throws is ignored. @default no report */
  readonly onError?: ((error: unknown) => void) | undefined;
}

type SendOptions = Parameters<ChatTransport<ThreadUIMessage>["sendMessages"]>[0];

/** What `useChat` talks to. A stream that is cancelled leaves its turn running; `abortSignal` of `sendMessages` cancels the turn. */
export class ThreadChatTransport implements ChatTransport<ThreadUIMessage> {
  /** `reconnectToStream` gives the whole answer again, from its first event on. */
  readonly resumeStreamIsReplay = true;
  readonly #options: ThreadChatTransportOptions;

  /** @internal */
  constructor(options: ThreadChatTransportOptions) {
    this.#options = options;
  }

  /**
   * Starts a turn with the last message, where that is the user's; the same message again gives the same turn. Where it is the
   * assistant's, or `messageId` names one of the assistant's, gives the answers to approvals in it, and goes on with its turn. The stream ends with the turn, or when the turn waits
   * for a human. Rejects with `invalid_argument`, `thread_not_found`, `turn_busy`, `request_conflict`, `approval_not_found`,
   * `approval_settled`, `approval_digest_mismatch` and the errors of the client.
   */
  async sendMessages(options: SendOptions): Promise<ReadableStream<ThreadUIMessageChunk>> {
    const { chatId, abortSignal, body } = options;
    if (abortSignal?.aborted) throw new RequestCancelledError("sendMessages", { cause: abortSignal.reason });
    const message = sentMessage(options, maxIdLength);
    const threadId = await this.#threadOf(chatId);
    const reader =
      message.role === "assistant"
        ? await this.#answer(threadId, message)
        : await this.#start(threadId, message, { chatId, body });
    return this.#cancelling(reader, threadId, abortSignal);
  }

  /** The answer of the turn that runs or waits, again from its beginning; null where no turn does. Rejects as `subscribe`. */
  async reconnectToStream({
    chatId,
  }: {
    readonly chatId: string;
  }): Promise<ReadableStream<ThreadUIMessageChunk> | null> {
    const threadId = await this.#threadOf(chatId);
    const turn = await findRunningTurn(this.#options.client, threadId);
    return turn ? (await this.#open(threadId, turn)).toStream() : null;
  }

  /** The messages of the chat: see `readThreadMessages`. */
  async readMessages({
    chatId,
    ...options
  }: { readonly chatId: string } & ReadMessagesOptions): Promise<ThreadUIMessage[]> {
    return readThreadMessages(this.#options.client, await this.#threadOf(chatId), options);
  }

  /** Cancels the turn of the chat that runs or waits. Rejects with `thread_not_found`, `turn_not_found`. */
  async cancel({ chatId }: { readonly chatId: string }): Promise<void> {
    const { client } = this.#options;
    const threadId = await this.#threadOf(chatId);
    const turn = await findRunningTurn(client, threadId);
    await this.#cancel(threadId, turn?.turnId);
  }

  /** Cancels a turn: where the server can tell turns apart, none that began behind it. */
  async #cancel(threadId: string, turnId: string | undefined): Promise<void> {
    const { client } = this.#options;
    const isNamed = turnId !== undefined && hasExtension(client.capabilities, "queue");
    await client.cancelTurn(threadId, isNamed ? { turnId } : {});
  }

  async #threadOf(chatId: string): Promise<string> {
    const { resolveThread = (id: string) => id } = this.#options;
    return resolveThread(chatId);
  }

  async #start(
    threadId: string,
    message: SentMessage,
    request: { readonly chatId: string; readonly body: unknown },
  ): Promise<TurnReader> {
    const { client, turnOptions } = this.#options;
    const input: readonly InputPart[] = toInputParts(message);
    const lastSeq = await readLastSeq(client, threadId);
    const turnId = await client.submitTurn({
      ...turnOptions?.(request),
      threadId,
      input,
      clientRequestId: requestNameOf(message.id),
      // A page shows one answer at a time: what would wait behind another turn is refused, whatever the server's choice.
      whenBusy: hasExtension(client.capabilities, "queue") ? "reject" : undefined,
    });
    return this.#open(threadId, await findTurnStart(client, threadId, { turnId, lastSeq }));
  }

  async #answer(threadId: string, message: SentMessage): Promise<TurnReader> {
    const { client, toDecision = ({ approved }) => (approved ? "once" : "reject") } = this.#options;
    const answers = sentAnswers(message);
    if (answers.length === 0)
      throw new InvalidArgumentError("the last message must be of the user, or answer an approval");
    const turn = await findRunningTurn(client, threadId);
    if (!turn) throw unknownApproval();
    const reader = await this.#open(threadId, turn);
    try {
      await reader.catchUp(sentSeq(message));
      await answerApprovals(client, reader.chunks.approvals, answers, toDecision);
    } catch (error) {
      reader.close();
      throw error;
    }
    return reader;
  }

  #open(threadId: string, turn: FoundTurn): Promise<TurnReader> {
    return TurnReader.open(this.#options.client, threadId, turn);
  }

  /** Cancels the turn when the signal aborts before the stream has ended. */
  #cancelling(
    reader: TurnReader,
    threadId: string,
    signal: AbortSignal | undefined,
  ): ReadableStream<ThreadUIMessageChunk> {
    const { onError } = this.#options;
    const cancel = () => {
      if (reader.chunks.isEnded || reader.chunks.isWaiting) return;
      this.#cancel(threadId, reader.chunks.turnId).catch((error: unknown) => {
        const isLate = ThreadError.isInstance(error) && error.code === "turn_not_found";
        if (!isLate) callSafely(() => onError?.(error));
      });
    };
    if (signal?.aborted) cancel();
    signal?.addEventListener("abort", cancel, { once: true });
    return reader.toStream();
  }
}

/** Makes a transport of `useChat` over a thread client, for a page or a server's handler. Throws `invalid_argument` for invalid options. */
export const createThreadChatTransport = (options: ThreadChatTransportOptions): ThreadChatTransport =>
  new ThreadChatTransport(checkThreadChatTransportOptions(options));
