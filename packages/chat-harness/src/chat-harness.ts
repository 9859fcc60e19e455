import { type CompiledGraph, type InitialOf, type StateOf, thrownMessage } from "@harnesskit/graph";
import type { ChatMessage, ChatTurnOutcome, DispatchPath, ErroredTurn } from "@harnesskit/protocol/chat";
import { type ChatFields, ChatTurns, demandMessages, messagesOf } from "./chat-turns.ts";
import type { Delivery, TurnListener } from "./deliveries.ts";
import { createErroredTurn, type Failure, failureOf, type ReplyTexts } from "./errors.ts";
import type { Signal } from "./find-pause.ts";
import { type CompactOutcome, HarnessCore, type PendingTurn, type RecoverySummary } from "./harness-core.ts";
import { takeMessage } from "./inbound-message.ts";
import { checkChatHarnessOptions } from "./option-names.ts";
import {
  type ChatHarnessLimits,
  type CloseOptions,
  chatHarnessLimits,
  type EngineOptions,
  type RecoverOptions,
  type TurnOptions,
} from "./options.ts";
import type { SignalOutcome } from "./signals.ts";

/** How a conversation runs. */
export interface ChatHarnessOptions<F extends ChatFields> extends EngineOptions<F> {
  /** The replies to users for errors. @default those of the specification */
  readonly replies?: ReplyTexts | undefined;
  /** Adds `final_state` to completed turns; its `messages` are the whole history. @default false */
  readonly includeFinalState?: boolean | undefined;
  /**
   * How the end of a resumed turn reaches the user: only by `listeners`, or with `next-send` also by the next `send`, whose outcome
   * has what no listener has taken as `resumed_turns`, ahead of the turn of its own message. @default "listeners"
   */
  readonly resumedTurns?: "listeners" | "next-send" | undefined;
  /** Limits to override. @default each as {@link ChatHarnessLimits} states */
  readonly limits?: Partial<ChatHarnessLimits> | undefined;
}

/** The outcome of a turn. */
export type SendOutcome = ChatTurnOutcome & {
  /**
   * Only with `resumedTurns: "next-send"`, and only if there are any: the ends of earlier turns that were resumed and that no
   * listener has taken, oldest first. They come ahead of this turn; show them first.
   */
  readonly resumed_turns?: readonly Delivery[];
};

/** Turns that wait for a signal, and ends of resumed turns that are not delivered. */
export interface OpenTurns {
  readonly suspended: readonly PendingTurn[];
  readonly undelivered: readonly Delivery[];
}

/**
 * Conversations over a graph. Each turn is one run of it; turns of one session run one after the other. A turn that suspends is
 * resumed by a signal, and its end goes to the listeners of the session.
 */
export class ChatHarness<F extends ChatFields = ChatFields> {
  readonly #core: HarnessCore<F>;
  readonly #errored: (failure: Failure) => ErroredTurn;
  readonly #isNextSend: boolean;
  readonly #limits: ChatHarnessLimits;

  /** @internal */
  constructor(options: ChatHarnessOptions<F>) {
    const { replies = {}, includeFinalState = false, resumedTurns = "listeners" } = options;
    this.#limits = chatHarnessLimits.resolve(options.limits);
    this.#isNextSend = resumedTurns === "next-send";
    this.#errored = createErroredTurn(replies);
    const turns = new ChatTurns<F>(this.#errored, includeFinalState);
    this.#core = new HarnessCore(options, this.#limits, turns);
    demandMessages(this.#core.graph, options.session?.fields);
  }

  /** The compiled graph, for observers of every turn. */
  get graph(): CompiledGraph<F> {
    return this.#core.graph;
  }

  /**
   * Runs one turn (section "The send() callable"): loads the session, appends the message, runs the graph, saves. A failure of the
   * turn, of the session id or of the message is an `errored` outcome. The messages of an outcome are frozen.
   *
   * Rejects with a {@link ChatHarnessError}: `session_busy`, `harness_busy` and `harness_closed` if the turn cannot wait,
   * `turn_cancelled`, `turn_timeout` and `turn_abandoned` if its caller cancelled it.
   */
  async send(sessionId: string, message: ChatMessage, options: TurnOptions = {}): Promise<SendOutcome> {
    const idProblem = this.#sessionIdProblem(sessionId);
    if (idProblem !== undefined) return this.#errored(failureOf("harness_session_id_unresolved", idProblem));
    const { value: taken, problem } = takeMessage(message, this.#limits.maxMessageBytes);
    if (problem !== undefined) return this.#errored(failureOf("chat_message_shape_invalid", problem));
    return this.#core.inLane(sessionId, options, (signal) => {
      let path: DispatchPath | undefined;
      const initial = (loaded: StateOf<F> | null): InitialOf<F> => {
        path = loaded === null || messagesOf(loaded).length === 0 ? "new_session" : "existing_session";
        return { messages: [taken] } as unknown as InitialOf<F>;
      };
      const turn = () => this.#core.start({ sessionId, initial, signal, options, path: () => path });
      return this.#isNextSend ? this.#withEarlierTurns(sessionId, turn) : turn();
    });
  }

  /**
   * Has the graph make a summary of all that was said in a session, which the model is given in its place from then on; the session keeps its
   * messages. The outcome has the summary, or null where nothing was said since the last one; a failure is an `errored` outcome, and changes nothing.
   *
   * Rejects with a {@link ChatHarnessError}: `compact_unsupported` for a graph that makes no summaries (`createChatGraph` makes them), `session_busy`
   * while a turn of the session runs here (one that runs in another process is waited for, as `send` does), `session_suspended` while one
   * waits for a signal, and otherwise as {@link send}.
   */
  async compact(sessionId: string, options: TurnOptions = {}): Promise<CompactOutcome> {
    const idProblem = this.#sessionIdProblem(sessionId);
    if (idProblem !== undefined) return this.#errored(failureOf("harness_session_id_unresolved", idProblem));
    return this.#core.compact(sessionId, options);
  }

  #sessionIdProblem(sessionId: unknown): string | undefined {
    const { maxSessionIdLength } = this.#limits;
    if (typeof sessionId !== "string" || sessionId === "") return "the session id is empty";
    if (sessionId.length <= maxSessionIdLength) return undefined;
    return `the session id is longer than ${maxSessionIdLength} characters`;
  }

  async #withEarlierTurns(sessionId: string, turn: () => Promise<ChatTurnOutcome>): Promise<SendOutcome> {
    let earlier: readonly Delivery[];
    try {
      earlier = await this.#core.deliveries.claim(sessionId);
    } catch (cause) {
      const message = `the store of suspensions failed: ${thrownMessage(cause)}`;
      return this.#errored(failureOf("session_load_failed", message, cause));
    }
    try {
      const outcome = await turn();
      await this.#core.deliveries.take(earlier);
      return earlier.length === 0 ? outcome : { ...outcome, resumed_turns: earlier };
    } catch (error) {
      this.#core.deliveries.giveBack(earlier);
      throw error;
    }
  }

  /**
   * Resumes the turn that waits for a signal (section "Signal-resume flow"). Settles when the resumed turn has ended or paused again;
   * its end also goes to the listeners of the session. Of several deliveries of one signal, one resumes. `errored`: the payload
   * is not valid, nothing waits for the signal, or the store failed; nothing has run, and the pause still waits.
   * Rejects as {@link send} does.
   */
  signal(signal: Signal, options: TurnOptions = {}): Promise<SignalOutcome> {
    return this.#core.resolve(signal, options);
  }

  /**
   * Adds a listener for the ends of resumed turns of a session, `completed` or `errored`, each once, first those that are not
   * delivered yet; not for turns that suspend. What it throws goes to `onError`. An end is delivered once one listener has
   * returned, or the promise that it returned has resolved. Returns a function that removes the listener. Throws
   * `too_many_listeners`.
   */
  subscribe(sessionId: string, listener: TurnListener): () => void {
    return this.#core.deliveries.subscribe(sessionId, listener);
  }

  /** What is open in a session, or in all, including what earlier processes have left. Rejects with a `StoreError`. */
  async pending(sessionId?: string): Promise<OpenTurns> {
    const [suspended, undelivered] = await Promise.all([
      this.#core.pending(sessionId === undefined ? {} : { sessionId }),
      this.#core.deliveries.list(sessionId),
    ]);
    return { suspended, undelivered };
  }

  /**
   * Marks the end of a resumed turn that {@link pending} returned as delivered. Idempotent; does nothing for an invocation that is
   * unknown or has not ended. Never rejects: a failure of the store goes to `onError`.
   */
  acknowledge(invocationId: string): Promise<void> {
    return this.#core.deliveries.acknowledge(invocationId);
  }

  /**
   * Continues what earlier processes have left: resumes turns whose signal was accepted and not applied, as the next message of a
   * session does, and delivers what is not delivered. Call it when a process starts, after its subscriptions, and for an accepted signal in {@link pending} that no
   * process resumes. Does nothing to a turn that runs. Rejects with a `StoreError`.
   */
  async recover(options: RecoverOptions = {}): Promise<RecoverySummary> {
    const recovered = await this.#core.recover(options);
    const open = await this.#core.deliveries.list(options.sessionId);
    const delivered = open.filter((delivery) => this.#core.deliveries.deliver(delivery) > 0);
    return { ...recovered, delivered_count: delivered.length };
  }

  /**
   * Refuses further turns and those that wait (`harness_closed`), and settles when the running turns have ended. Cancels what runs
   * after `timeoutMs`; rejects with `turn_abandoned` if it does not end within `abandonAfterMs`. The store stays open. Idempotent.
   */
  close(options: CloseOptions = {}): Promise<void> {
    return this.#core.close(options);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/**
 * Creates a harness for conversations over a graph. Throws `messages_field_invalid` for a graph whose state has no history, a
 * `GraphCompileError` for one that does not compile, and `invalid_argument` for an option that is not valid.
 */
export const createChatHarness = <F extends ChatFields>(options: ChatHarnessOptions<F>): ChatHarness<F> =>
  new ChatHarness(checkChatHarnessOptions(options));
