import type { CompiledGraph, InitialOf, StateOf } from "@harnesskit/graph";
import type { ChatMessage, ChatTurnOutcome, DispatchPath, ErroredTurn } from "@harnesskit/protocol/chat";
import type { ChatHarnessOptions } from "./chat-harness-options.ts";
import { type ChatFields, demandMessages, messagesOf } from "./chat-state.ts";
import { createChatTurns } from "./chat-turns.ts";
import { demandCount } from "./check-options.ts";
import { type CloseOptions, closeEngine } from "./close-engine.ts";
import { Deliveries, type Delivery, type ResumedTurn, type TurnListener } from "./deliveries.ts";
import { createEngine, type Engine, type TurnOptions } from "./engine-options.ts";
import { type Failure, failureOf } from "./failure.ts";
import { takeMessage } from "./inbound-message.ts";
import { laneOf } from "./lane-of.ts";
import { listPending, type PendingTurn } from "./pending.ts";
import { type RecoverOptions, type RecoverySummary, recoverSignals } from "./recovery.ts";
import { createErroredTurn } from "./reply-texts.ts";
import type { Signal, SignalResult } from "./signal.ts";
import { type EndedTurn, Signals } from "./signals.ts";
import { TurnRunner } from "./turn-runner.ts";
import { messageOf } from "./warning.ts";

/** What `send` gives: the outcome of the turn. */
export type SendOutcome = ChatTurnOutcome & {
  /**
   * Only with `resumedTurns: "next-send"`, and only where there are any: the ends of earlier turns that were resumed and that no
   * listener has taken, oldest first. They come ahead of this turn; show them first.
   */
  readonly resumed_turns?: readonly Delivery[];
};

/** What became of a signal. An `errored` outcome: nothing has run, and what waits still waits. */
export type SignalOutcome = SignalResult<ChatTurnOutcome, ErroredTurn>;

/** What is open: turns that wait for a signal, and ends of resumed turns that nobody has taken. */
export interface OpenTurns {
  readonly suspended: readonly PendingTurn[];
  readonly undelivered: readonly Delivery[];
}

/**
 * Conversations over a graph. Each turn is one run of it; turns of one session run one after the other. A turn that suspends
 * is resumed by a signal, and its end goes to whoever listens.
 */
export class ChatHarness<F extends ChatFields = ChatFields> {
  readonly #engine: Engine<F>;
  readonly #runner: TurnRunner<F, ChatTurnOutcome>;
  readonly #signals: Signals<F, ChatTurnOutcome>;
  readonly #deliveries: Deliveries;
  readonly #errored: (failure: Failure) => ErroredTurn;
  readonly #isNextSend: boolean;
  readonly #maxMessageLength: number;
  readonly #maxSessionIdLength: number;

  /** @internal */
  constructor(options: ChatHarnessOptions<F>) {
    const { replies = {}, includeFinalState = false, resumedTurns = "listeners" } = options;
    this.#maxMessageLength = demandCount(options.maxMessageLength ?? 20_000_000, "maxMessageLength");
    this.#maxSessionIdLength = demandCount(options.maxSessionIdLength ?? 1024, "maxSessionIdLength");
    this.#isNextSend = resumedTurns === "next-send";
    this.#errored = createErroredTurn(replies);
    this.#engine = createEngine(options);
    demandMessages(this.#engine.graph, options.session?.fields);
    const { store, warn } = this.#engine;
    const maxListeners = demandCount(options.maxListeners ?? 10_000, "maxListeners");
    this.#deliveries = new Deliveries({ store, maxListeners, warn });
    const shape = createChatTurns<F>({ errored: this.#errored, includeFinalState });
    this.#runner = new TurnRunner(this.#engine, shape);
    const onEnd = (ended: EndedTurn<ChatTurnOutcome>, isKept: boolean) => this.#deliver(ended, isKept);
    this.#signals = new Signals({ engine: this.#engine, runner: this.#runner, shape, onEnd });
  }

  /** The graph as it was compiled, for observers that are told of every turn. */
  get graph(): CompiledGraph<F> {
    return this.#engine.graph;
  }

  /**
   * Runs one turn (section "The send() callable"): loads the session, appends the message, runs the graph, saves. Whatever goes wrong
   * in the turn, with the session id or with the message is an `errored` outcome. The messages of an outcome are frozen.
   *
   * Rejects with a {@link ChatHarnessError}: `session_busy`, `harness_busy` and `harness_closed` where the turn cannot wait,
   * `turn_cancelled`, `turn_timeout` and `turn_abandoned` where its caller gave it up.
   */
  async send(sessionId: string, message: ChatMessage, options: TurnOptions = {}): Promise<SendOutcome> {
    const idProblem = this.#sessionIdProblem(sessionId);
    if (idProblem !== undefined) return this.#errored(failureOf("harness_session_id_unresolved", idProblem));
    const taken = takeMessage(message, { maxLength: this.#maxMessageLength });
    if (taken.problem !== undefined) {
      return this.#errored(failureOf("chat_message_shape_invalid", taken.problem));
    }
    return this.#engine.lanes.run(laneOf(sessionId, ""), options, (signal) =>
      this.#turn(sessionId, taken.value, options, signal),
    );
  }

  #sessionIdProblem(sessionId: unknown): string | undefined {
    if (typeof sessionId !== "string" || sessionId === "") return "the session id is empty";
    if (sessionId.length <= this.#maxSessionIdLength) return undefined;
    return `the session id is longer than ${this.#maxSessionIdLength} characters`;
  }

  async #turn(
    sessionId: string,
    message: ChatMessage,
    options: TurnOptions,
    signal: AbortSignal,
  ): Promise<SendOutcome> {
    if (!this.#isNextSend) return this.#ownTurn(sessionId, message, options, signal);
    let earlier: readonly Delivery[];
    try {
      earlier = await this.#deliveries.claim(sessionId);
    } catch (cause) {
      const text = `the store of suspensions failed: ${messageOf(cause)}`;
      return this.#errored(failureOf("session_load_failed", text, cause));
    }
    try {
      const turn = await this.#ownTurn(sessionId, message, options, signal);
      await this.#deliveries.take(earlier);
      return earlier.length === 0 ? turn : { ...turn, resumed_turns: earlier };
    } catch (error) {
      this.#deliveries.giveBack(earlier);
      throw error;
    }
  }

  #ownTurn(
    sessionId: string,
    message: ChatMessage,
    options: TurnOptions,
    signal: AbortSignal,
  ): Promise<ChatTurnOutcome> {
    let path: DispatchPath | undefined;
    const initial = (loaded: StateOf<F> | null): InitialOf<F> => {
      path = loaded === null || messagesOf(loaded).length === 0 ? "new_session" : "existing_session";
      return { messages: [message] } as unknown as InitialOf<F>;
    };
    return this.#runner.start({ sessionId, initial, signal, options, path: () => path });
  }

  /**
   * Goes on with the turn that waits for a signal (section "Signal-resume flow"). Gives what became of it once the resumed turn
   * has ended or paused again; its end also goes to the listeners of the session. Of many deliveries of one signal, one
   * resumes. `errored`: the payload does not fit, nothing waits for the signal, or the store failed; nothing has run, and
   * what waits can still be resumed. Rejects as {@link send} does.
   */
  async signal(signal: Signal, options: TurnOptions = {}): Promise<SignalOutcome> {
    const resolution = await this.#signals.resolve(signal, options);
    switch (resolution.kind) {
      case "resumed": {
        const { invocation_id, session_id } = resolution.record;
        return { outcome: "resumed", invocation_id, session_id, turn: resolution.turn };
      }
      case "already_resolved":
        return { outcome: "already_resolved" };
      case "refused":
        return this.#errored(resolution.failure);
    }
  }

  /**
   * Has a listener told how resumed turns of a session ended, `completed` or `errored`, each once, first those that nobody has taken
   * yet. Never told of a turn that suspends. What it throws is a warning and disturbs nobody. An end counts as taken once one
   * listener has returned, or the promise that it gave has resolved. Gives what takes the listener back. Throws
   * `too_many_listeners`.
   */
  subscribe(sessionId: string, listener: TurnListener): () => void {
    return this.#deliveries.subscribe(sessionId, listener);
  }

  #deliver({ invocationId, sessionId, turn }: EndedTurn<ChatTurnOutcome>, isKept: boolean): void {
    if (sessionId === null) return;
    const delivery = { session_id: sessionId, invocation_id: invocationId, turn: turn as ResumedTurn };
    if (isKept) this.#deliveries.deliver(delivery);
    else this.#deliveries.announce(delivery);
  }

  /**
   * What is open in a session, or in all: also what earlier processes have left. Rejects with a `StoreError`.
   */
  async pending(sessionId?: string): Promise<OpenTurns> {
    const filter = sessionId === undefined ? {} : { sessionId };
    const [suspended, undelivered] = await Promise.all([
      listPending(this.#engine.store, filter),
      this.#deliveries.list(sessionId),
    ]);
    return { suspended, undelivered };
  }

  /**
   * Says that the end of a resumed turn, found by {@link pending}, needs to be told to nobody any more. Idempotent; does nothing
   * for an invocation that is unknown or has not ended. Never rejects: where the store fails it is a warning.
   */
  acknowledge(invocationId: string): Promise<void> {
    return this.#deliveries.acknowledge(invocationId);
  }

  /**
   * Takes up what earlier processes have left: goes on with turns whose signal was accepted and not applied, and tells listeners what
   * nobody has taken. For the start of a process, behind its subscriptions, and where {@link pending} has a signal that was accepted and
   * that nobody goes on with. Does nothing to a turn that runs. Rejects with a `StoreError`.
   */
  async recover(options: RecoverOptions = {}): Promise<RecoverySummary> {
    const recovered = await recoverSignals(this.#engine, this.#signals, options);
    const told = (await this.#deliveries.list(options.sessionId)).filter(
      (delivery) => this.#deliveries.deliver(delivery) > 0,
    );
    return { ...recovered, delivered_count: told.length };
  }

  /**
   * Refuses whatever comes and what waits (`harness_closed`), and settles when the turns that run have ended. What is still
   * running after `timeoutMs` is cancelled; rejects with `turn_abandoned` where it does not end then within `abandonAfterMs`.
   * The store stays open. Idempotent.
   */
  close(options: CloseOptions = {}): Promise<void> {
    return closeEngine(this.#engine, options);
  }
}

/**
 * Makes a harness for conversations over a graph. Throws `messages_field_invalid` for a graph whose state has no history, a
 * `GraphCompileError` for one that does not compile, and `invalid_argument` for a limit that is none.
 */
export const createChatHarness = <F extends ChatFields>(options: ChatHarnessOptions<F>): ChatHarness<F> =>
  new ChatHarness(options);
