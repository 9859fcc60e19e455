import { GraphError, type NodeContext } from "@harnesskit/graph";
import type { ToolCall, ToolMessage } from "@harnesskit/protocol/chat";
import { createDeferred } from "@harnesskit/wire";
import { readOutputTool } from "@harnesskit/wire/replay";
import { makeSideBySide } from "@harnesskit/wire/tool";
import type { ChatApprovalAnswer } from "./approval.ts";
import { type FoundCall, findCall } from "./arrange-history.ts";
import { type Tell, teller } from "./chat-events.ts";
import type { ChatSettings } from "./chat-graph-options.ts";
import type { ChatGraphFields, ChatState, ChatUpdate, WaitingCall } from "./chat-state.ts";
import { factsOf } from "./chat-tools.ts";
import { type CallFailure, failureText } from "./failure-text.ts";
import { type CallPlan, type NodeScope, planCall } from "./plan-call.ts";

/** A call of the step that has no result. */
interface OpenCall {
  readonly found: FoundCall;
  /** Why the model's arguments could not be read; null if they could. */
  readonly problem: string | null;
}

type Rejection = Extract<ChatApprovalAnswer, { decision: "reject" }>;

const rejection = ({ reason = "", unattended }: Rejection): CallFailure => {
  const why = reason.trim() === "" ? "" : ` The reason: ${reason}`;
  const [code, what] = unattended
    ? ["approval.unattended", "No user could be asked to approve this call"]
    : ["rejected", "The user rejected this call"];
  return { status: "rejected", code, message: `${what}, and it was not run.${why}` };
};

const interrupted: CallFailure = {
  status: "failed",
  code: "tool_interrupted",
  message:
    "The process that ran this call ended before it. Whether it has done anything is not known. It is not run again.",
};

/**
 * The calls of one step, of which some may have waited for a person, and their results. If the session has the calls already, the
 * beginning and the result of each are saved at once, so that no call runs twice after a failure or a crash.
 */
class StepCalls {
  readonly #scope: NodeScope;
  readonly #messages: ToolMessage[] = [];
  readonly #begun: string[] = [];
  readonly #tell: Tell;
  readonly #waiting: Map<string, WaitingCall>;
  readonly #open: readonly OpenCall[];
  /** A call waits or has failed: what is behind it does not begin. */
  #isStopped = false;
  #added: Promise<void> = Promise.resolve();

  constructor(scope: NodeScope) {
    const { messages, queue, waiting, answered } = scope.state;
    this.#scope = scope;
    this.#tell = teller(scope.chat.onEvent, scope.context, scope.state.model_calls);
    // A payload may have put another queue in the place of its own.
    const asked = [...waiting, ...answered].map(({ id }) => [id, null] as const);
    const calls = new Map([...queue.map(({ id, problem }) => [id, problem] as const), ...asked]);
    this.#open = [...calls].flatMap(([id, problem]) => {
      const found = findCall(messages, id);
      return found === undefined || found.hasResult ? [] : [{ found, problem }];
    });
    const open = new Set(this.#open.map(({ found }) => found.call.id));
    this.#waiting = new Map(waiting.filter(({ id }) => open.has(id)).map((call) => [call.id, call]));
  }

  /** The results so far, as an update of the node. */
  get #results() {
    return { messages: [...this.#messages], begun_calls: [...this.#begun] };
  }

  /** The update of the node. */
  get update(): ChatUpdate {
    const waiting = this.#open.flatMap(({ found }) => this.#waiting.get(found.call.id) ?? []);
    const { answered } = this.#scope.state;
    const left = waiting.length === 0 ? [] : answered.filter(({ id }) => !this.#waiting.has(id));
    return { ...this.#results, waiting, answered: left };
  }

  /** The id of a call's signal. It cannot be guessed without the id of the invocation. */
  #signalIdOf({ place }: FoundCall): string {
    return `${this.#scope.context.invocationId}.${this.#scope.state.model_calls}.${place}`;
  }

  /** Runs what can run, up to the first call that waits for an answer. */
  async run(): Promise<void> {
    const tools = await this.#scope.chat.tools(this.#scope.context.signal);
    const onlyReads = ({ found: { call } }: OpenCall) => {
      const tool = tools[call.name];
      return tool === undefined ? call.name === readOutputTool.name : factsOf(tool)?.onlyReads === true;
    };
    const isAsked = this.#waiting.size > 0;
    await makeSideBySide(this.#open, onlyReads, (call, after) => this.#make(call, after));
    // The questions of a step reach the person together.
    if (!isAsked && this.#waiting.size > 0) for (const call of this.#open) await this.#askAhead(call);
  }

  async #make(call: OpenCall, after: Promise<unknown> | undefined): Promise<void> {
    const before = this.#added;
    const added = createDeferred<void>();
    this.#added = added.promise;
    try {
      await after;
      const result = this.#isStopped ? undefined : await this.#resultOf(call);
      if (result === undefined) this.#isStopped = true;
      await before;
      if (result !== undefined) await this.#add(call.found.call, result);
    } catch (error) {
      this.#isStopped = true;
      throw error;
    } finally {
      added.resolve();
    }
  }

  /** The result of a call; undefined if it waits for an answer. */
  async #resultOf(open: OpenCall): Promise<string | CallFailure | undefined> {
    const { found } = open;
    const { id } = found.call;
    this.#scope.context.signal.throwIfAborted();
    // A process had begun it when it died.
    if (this.#scope.state.begun_calls.includes(this.#signalIdOf(found))) {
      this.#waiting.delete(id);
      return interrupted;
    }
    if (this.#waiting.has(id)) return undefined;
    const given = this.#scope.state.answered.find((each) => each.id === id);
    if (given?.answer.decision === "reject") return rejection(given.answer);
    const approval = given && { answer: given.answer, request: given.request };
    const plan = await this.#planOf(open, approval as Parameters<typeof planCall>[2]);
    if (plan.kind === "fail") return plan.failure;
    if (plan.kind === "run") return this.#run(found, plan);
    if (plan.kind === "ask") this.#ask(found, plan.request);
    else if (given !== undefined) {
      this.#ask(found, { ...(plan.request ?? given.request), problem: plan.problem });
    }
    return undefined;
  }

  async #planOf({ found, problem }: OpenCall, approval?: Parameters<typeof planCall>[2]): Promise<CallPlan> {
    const { call } = found;
    const { chat, context } = this.#scope;
    const isUsable = problem === null || (await chat.tools(context.signal))[call.name] === undefined;
    if (isUsable) return planCall(call, this.#scope, approval);
    const message = `The input cannot be used: ${problem}`;
    return { kind: "fail", failure: { status: "not_run", code: "invalid_input", message } };
  }

  #ask(found: FoundCall, request: WaitingCall["request"]): void {
    const { id } = found.call;
    this.#waiting.set(id, { id, signal_id: this.#signalIdOf(found), request });
  }

  /** Runs a call, and gives its result or its failure; where a process had begun it and died, and it is not repeatable, that it was interrupted. */
  async #run(found: FoundCall, plan: Extract<CallPlan, { kind: "run" }>): Promise<string | CallFailure> {
    const { context, state } = this.#scope;
    const { isRepeatable } = plan;
    if (state.is_kept && !isRepeatable) {
      this.#begun.push(this.#signalIdOf(found));
      await context.saveSession(this.#results);
    }
    this.#tell({ type: "tool_started", call: found.call, input: plan.input });
    try {
      // A name that outlives the invocation, which has another id after a crash.
      const name = `call ${state.model_calls}.${found.place}`;
      return await context.effect(name, plan.run, { idempotent: isRepeatable });
    } catch (error) {
      if (GraphError.isInstance(error) && error.code === "node_ambiguous") return interrupted;
      throw error;
    }
  }

  /** Adds the result of a call. */
  async #add(call: ToolCall, result: string | CallFailure): Promise<void> {
    const content = typeof result === "string" ? result : failureText(result);
    this.#messages.push({ role: "tool", content, tool_call_id: call.id });
    if (this.#scope.state.is_kept) await this.#scope.context.saveSession(this.#results);
    this.#tell({ type: "result", call, content });
  }

  /** Asks about a call behind one that waits, where it needs an answer too. */
  async #askAhead(open: OpenCall): Promise<void> {
    const { id } = open.found.call;
    const isDone = this.#messages.some(({ tool_call_id }) => tool_call_id === id);
    if (isDone || this.#waiting.has(id) || this.#scope.state.answered.some((each) => each.id === id)) return;
    const plan = await this.#planOf(open);
    if (plan.kind === "ask") this.#ask(open.found, plan.request);
  }
}

/** Runs the calls that have no result, as far as they need no answer that is not there. */
export const toolsNode =
  (chat: ChatSettings) =>
  async (state: ChatState, context: NodeContext<ChatGraphFields>): Promise<ChatUpdate> => {
    const calls = new StepCalls({ chat, state, context });
    await calls.run();
    return calls.update;
  };
