import type { NodeContext } from "@harnesskit/graph";
import { createDeferred } from "@harnesskit/wire";
import { readOutputTool } from "@harnesskit/wire/replay";
import { makeSideBySide } from "@harnesskit/wire/tool";
import { type FoundCall, findCall } from "./arrange-history.ts";
import { CallResults } from "./call-results.ts";
import type { ChatSettings } from "./chat-graph-options.ts";
import type { ChatGraphFields, ChatState, ChatUpdate, WaitingCall } from "./chat-state.ts";
import { factsOf } from "./chat-tools.ts";
import type { CallFailure } from "./failure-text.ts";
import { type CallPlan, type NodeScope, planCall } from "./plan-call.ts";

/** A call of the step that has no result. */
interface OpenCall {
  readonly found: FoundCall;
  /** Why the model's arguments could not be read; null if they could. */
  readonly problem: string | null;
}

const invalidInput = (problem: string): CallPlan => ({
  kind: "fail",
  failure: { status: "not_run", code: "invalid_input", message: `The input cannot be used: ${problem}` },
});

const rejection = (reason = ""): CallFailure => {
  const why = reason.trim() === "" ? "" : ` The reason: ${reason}`;
  return {
    status: "rejected",
    code: "rejected",
    message: `The user rejected this call, and it was not run.${why}`,
  };
};

/** The calls of one step, of which some may have waited for a person. */
class StepCalls {
  readonly results: CallResults;
  readonly #scope: NodeScope;
  readonly #waiting: Map<string, WaitingCall>;
  readonly #open: readonly OpenCall[];
  /** A call waits or has failed: what is behind it does not begin. */
  #isStopped = false;
  #added: Promise<void> = Promise.resolve();

  constructor(scope: NodeScope) {
    const { messages, queue, waiting, answered } = scope.state;
    this.#scope = scope;
    this.results = new CallResults(scope);
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

  /** Those that wait for an answer, in the order of the step. */
  get waiting(): WaitingCall[] {
    return this.#open.flatMap(({ found }) => this.#waiting.get(found.call.id) ?? []);
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
      if (result !== undefined) await this.results.add(call.found.call, result);
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
    const failure = this.results.interruptedOf(found);
    if (failure !== undefined) {
      this.#waiting.delete(id);
      return failure;
    }
    if (this.#waiting.has(id)) return undefined;
    const given = this.#scope.state.answered.find((each) => each.id === id);
    if (given?.answer.decision === "reject") return rejection(given.answer.reason);
    const approval = given && { answer: given.answer, request: given.request };
    const plan = await this.#planOf(open, approval as Parameters<typeof planCall>[2]);
    if (plan.kind === "fail") return plan.failure;
    if (plan.kind === "run") return this.results.run(found, plan);
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
    return isUsable ? planCall(call, this.#scope, approval) : invalidInput(problem);
  }

  #ask(found: FoundCall, request: WaitingCall["request"]): void {
    const { id } = found.call;
    this.#waiting.set(id, { id, signal_id: this.results.signalIdOf(found), request });
  }

  /** Asks about a call behind one that waits, where it needs an answer too. */
  async #askAhead(open: OpenCall): Promise<void> {
    const { id } = open.found.call;
    const isDone = this.results.update.messages?.some(({ tool_call_id }) => tool_call_id === id);
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
    const { waiting } = calls;
    const open = new Set(waiting.map(({ id }) => id));
    const answered = waiting.length === 0 ? [] : state.answered.filter(({ id }) => !open.has(id));
    return { ...calls.results.update, waiting, answered };
  };
