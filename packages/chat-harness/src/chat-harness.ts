import {
  type CompiledGraph,
  createMemoryStore,
  type InitialOf,
  type StateOf,
  thrownMessage,
} from "@harnesskit/graph";
import type { ChatMessage, ChatTurnOutcome, DispatchPath, ErroredTurn } from "@harnesskit/protocol/chat";
import { callSafely, checkNumber, randomUuid, systemClock, warnPlatform } from "@harnesskit/wire";
import { Deliveries, type TurnListener } from "./deliveries.ts";
import {
  ChatHarnessError,
  type ChatHarnessErrorCode,
  createErroredTurn,
  failureOf,
  RefusedSignal,
} from "./errors.ts";
import type { Signal } from "./find-pause.ts";
import { takeMessage } from "./inbound-message.ts";
import { Lanes, laneOf } from "./lanes.ts";
import { LeftTurns } from "./left-turns.ts";
import { type ChatFields, demandMessages, messagesOf } from "./messages-field.ts";
import { checkChatHarnessOptions } from "./option-names.ts";
import {
  type ChatHarnessOptions,
  type CloseOptions,
  chatHarnessLimits,
  demandEngine,
  type RecoverOptions,
  type TurnOptions,
} from "./options.ts";
import type { CompactOutcome, OpenTurns, RecoverySummary } from "./outcomes.ts";
import { type SignalOutcome, Signals } from "./signals.ts";
import type { TurnContext } from "./turn-context.ts";
import { TurnRunner } from "./turn-runner.ts";

/**
 * Conversations over a graph. Each turn is one run of it; turns of one session run one after the other. A turn that suspends is
 * resumed by a signal, and its end goes to the listeners of the session.
 */
export class ChatHarness<F extends ChatFields = ChatFields> {
  /** The compiled graph, for observers of every turn. */
  readonly graph: CompiledGraph<F>;
  readonly #context: TurnContext<F>;
  readonly #signals: Signals<F>;
  readonly #left: LeftTurns<F>;
  readonly #compaction: ChatHarnessOptions<F>["graph"]["compaction"];

  /** @internal */
  constructor(options: ChatHarnessOptions<F>) {
    const { clock = systemClock, createId = randomUuid, session = {}, interruptedTurns = "forget" } = options;
    const { onError: given = (cause, context) => warnPlatform("ChatHarnessWarning", { ...context, cause }) } =
      options;
    const limits = chatHarnessLimits.resolve(options.limits);
    demandEngine(options);
    const abandonAfterMs = checkNumber("abandonAfterMs", options.abandonAfterMs ?? 5_000, { min: 0 });
    const onError: TurnContext<F>["onError"] = (error, context) => callSafely(() => given(error, context));
    const store = options.store ?? createMemoryStore({ clock });
    const { leaseTtlMs = 30_000, leaseWaitMs = 60_000, concurrency = "lease" } = session;
    this.graph = options.graph.compile({
      ...options.compile,
      onError: options.compile?.onError ?? onError,
      store,
      session: { ...session, concurrency, autoSave: true },
      durability: interruptedTurns === "forget" ? undefined : "node",
      createId,
      clock,
    });
    demandMessages(this.graph, session.fields);
    this.#compaction = options.graph.compaction;
    const report: TurnContext<F>["report"] = (turn) =>
      callSafely(
        () => options.onTurn?.(turn),
        (cause) => onError(cause, { kind: "report_failed", message: "onTurn failed" }),
      );
    this.#context = {
      graph: this.graph,
      store,
      clock,
      createId,
      limits,
      lanes: new Lanes({ ...limits, turnTimeoutMs: options.turnTimeoutMs, abandonAfterMs, clock }),
      deliveries: new Deliveries(store, limits.maxListeners, onError),
      policy: interruptedTurns,
      lease: { ttlMs: leaseTtlMs, waitMs: leaseWaitMs },
      includesState: options.includeFinalState ?? false,
      errored: createErroredTurn(options.replies ?? {}),
      report,
      onError,
    };
    const runner = new TurnRunner(this.#context);
    this.#signals = new Signals(this.#context, runner);
    this.#left = new LeftTurns(this.#context, runner, this.#signals);
  }

  /**
   * Runs one turn (section "The send() callable"): loads the session, appends the message, runs the graph, saves. A failure of the
   * turn, of the session id or of the message is an `errored` outcome. The messages of an outcome are frozen.
   *
   * Rejects with a {@link ChatHarnessError}: `session_busy`, `harness_busy` and `harness_closed` if the turn cannot wait,
   * `turn_cancelled`, `turn_timeout` and `turn_abandoned` if its caller cancelled it.
   */
  async send(sessionId: string, message: ChatMessage, options: TurnOptions = {}): Promise<ChatTurnOutcome> {
    const refused = this.#refuseId(sessionId);
    if (refused !== undefined) return refused;
    const { value: taken, problem } = takeMessage(message, this.#context.limits.maxMessageBytes);
    if (problem !== undefined) return this.#context.errored(failureOf("chat_message_shape_invalid", problem));
    return this.#left.inLane(sessionId, options, async (signal) => {
      let path: DispatchPath | undefined;
      const initial = (loaded: StateOf<F> | null): InitialOf<F> => {
        path = loaded === null || messagesOf(loaded).length === 0 ? "new_session" : "existing_session";
        return { messages: [taken] } as unknown as InitialOf<F>;
      };
      return (await this.#left.start({ sessionId, initial, signal, options, path: () => path })).turn;
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
    const refused = this.#refuseId(sessionId);
    if (refused !== undefined) return refused;
    const compaction = this.#compaction;
    const refuse = (code: ChatHarnessErrorCode, why: string) =>
      new ChatHarnessError(code, `the conversation cannot be summarised: ${why}`);
    if (!compaction) throw refuse("compact_unsupported", "its graph makes no summaries");
    if (this.#context.lanes.isTaken(laneOf(sessionId, ""))) throw refuse("session_busy", "a turn of it runs");
    return this.#left.inLane(sessionId, options, async (signal) => {
      try {
        if ((await this.graph.getState(sessionId)) === null) return { outcome: "completed", summary: null };
        const waiting = await this.#context.store.suspensions.list({ sessionId, status: "suspended" });
        if (waiting.length > 0)
          throw refuse("session_suspended", "a turn of it waits for an answer, which comes first");
      } catch (error) {
        if (ChatHarnessError.isInstance(error)) throw error;
        const message = `the session cannot be read: ${thrownMessage(error)}`;
        return this.#context.errored(failureOf("session_load_failed", message, error));
      }
      const { initial, madeIn } = compaction;
      const path = () => undefined;
      const end = await this.#left.start({ sessionId, initial: () => initial, signal, options, path });
      if (end.kind === "failed") return end.turn;
      const { outcome } = end;
      return {
        outcome: "completed",
        summary: outcome.outcome === "completed" ? madeIn(outcome.state) : null,
      };
    });
  }

  #refuseId(sessionId: unknown): ErroredTurn | undefined {
    const { maxSessionIdLength } = this.#context.limits;
    const refused = (problem: string) =>
      this.#context.errored(failureOf("harness_session_id_unresolved", `the session id is ${problem}`));
    if (typeof sessionId !== "string" || sessionId === "") return refused("empty");
    if (sessionId.length <= maxSessionIdLength) return undefined;
    return refused(`longer than ${maxSessionIdLength} characters`);
  }

  /**
   * Resumes the turn that waits for a signal (section "Signal-resume flow"). Settles when the resumed turn has ended or paused again;
   * its end also goes to the listeners of the session. Of several deliveries of one signal, one resumes. `errored`: the payload
   * is not valid, nothing waits for the signal, or the store failed; nothing has run, and the pause still waits.
   * Rejects as {@link send} does.
   */
  async signal(signal: Signal, options: TurnOptions = {}): Promise<SignalOutcome> {
    try {
      return await this.#signals.resolve(signal, options);
    } catch (error) {
      if (RefusedSignal.isInstance(error)) return this.#context.errored(error.failure);
      throw error;
    }
  }

  /**
   * Adds a listener for the ends of resumed turns of a session, `completed` or `errored`, each once, first those that are not
   * delivered yet; not for turns that suspend. What it throws goes to `onError`. An end is delivered once one listener has
   * returned, or the promise that it returned has resolved. Returns a function that removes the listener. Throws
   * `too_many_listeners`.
   */
  subscribe(sessionId: string, listener: TurnListener): () => void {
    return this.#context.deliveries.subscribe(sessionId, listener);
  }

  /** What is open in a session, or in all, including what earlier processes have left. Rejects with a `StoreError`. */
  async pending(sessionId?: string): Promise<OpenTurns> {
    const [records, undelivered] = await Promise.all([
      this.#context.store.suspensions.list({ sessionId, status: "suspended" }),
      this.#context.deliveries.list(sessionId),
    ]);
    const suspended = records.map((record) => ({
      invocation_id: record.invocation_id,
      session_id: record.session_id,
      signal_descriptor: record.descriptor,
      suspended_at: record.suspended_at,
      is_signal_accepted: record.signal !== null,
    }));
    return { suspended, undelivered };
  }

  /**
   * Marks the end of a resumed turn that {@link pending} returned as delivered. Idempotent; does nothing for an invocation that is
   * unknown or has not ended. Never rejects: a failure of the store goes to `onError`.
   */
  acknowledge(invocationId: string): Promise<void> {
    return this.#context.deliveries.acknowledge(invocationId);
  }

  /**
   * Continues what earlier processes have left: resumes turns whose signal was accepted and not applied, as the next message of a
   * session does, and delivers what is not delivered. Call it when a process starts, after its subscriptions, and for an accepted signal in {@link pending} that no
   * process resumes. Does nothing to a turn that runs. Rejects with a `StoreError`.
   */
  async recover({ sessionId }: RecoverOptions = {}): Promise<RecoverySummary> {
    const { deliveries } = this.#context;
    const recovered = await this.#left.recover(sessionId);
    const open = await deliveries.list(sessionId);
    const delivered = open.filter((delivery) => deliveries.deliver(delivery) > 0);
    return { ...recovered, delivered_count: delivered.length };
  }

  /**
   * Refuses further turns and those that wait (`harness_closed`), and settles when the running turns have ended. Cancels what runs
   * after `timeoutMs`; rejects with `turn_abandoned` if it does not end within `abandonAfterMs`. The store stays open. Idempotent.
   */
  async close({ timeoutMs }: CloseOptions = {}): Promise<void> {
    if (timeoutMs !== undefined) checkNumber("timeoutMs", timeoutMs, { min: 0 });
    try {
      await this.#context.lanes.close(timeoutMs);
    } finally {
      await this.graph.drain({ timeoutMs });
    }
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
