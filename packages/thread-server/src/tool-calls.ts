import type { JsonObject } from "@harnesskit/protocol/envelope";
import { describeDifference, digest, jsonDifference } from "@harnesskit/wire";
import { defined } from "@harnesskit/wire/json";
import { prepareCall, type Tool, ToolError } from "@harnesskit/wire/tool";
import { type Decision, GatedStep, type Judged, type LateDecision } from "./gated-step.ts";
import { createOutputReader } from "./output-reader.ts";
import type { PendingCall, PendingWork } from "./pending-work.ts";
import { isSameInput, RecordedCalls, requestedIn, toJsonObject } from "./recorded-calls.ts";
import { type Asked, judgedOf, type Prepared, type Shown, shownOf } from "./shown-call.ts";
import { cancelledCall, ToolRuns } from "./tool-runs.ts";
import type { Turn } from "./turn.ts";
import type { JudgedCall, ToolOutcome, ToolRequest } from "./turn-runner.ts";

const texts = {
  notJudged: "The call could not be judged, so it does not run.",
  tooManyChanges: "It was to be changed again and again, so it does not run.",
  changed: "What would run is no longer what was shown.",
};

/**
 * Runs tool calls: each is prepared, judged by the gate, approved by a human where the gate asks for it, run once, and
 * recorded as one `tool_exec` item. What was approved is the very object that runs.
 */
export class ToolCalls {
  /** The agent's tool for outputs that it was shown a part of. */
  readonly outputReader: Tool;
  readonly #turn: Turn;
  #tools: Promise<readonly Tool[]> | undefined;
  /** Of a turn that is resumed. */
  #recorded: RecordedCalls | undefined;
  readonly #runs: ToolRuns;
  readonly #step: GatedStep<Prepared, { readonly input: JsonObject }, JsonObject>;

  constructor(turn: Turn) {
    this.#turn = turn;
    this.outputReader = createOutputReader(turn.session);
    this.#runs = new ToolRuns(turn);
    this.#step = new GatedStep(turn, {
      noun: "call",
      prefix: "tool",
      texts,
      before: ({ call }) => turn.settings.gate.before(call, { signal: turn.signal }),
      change: (prepared, { input }) => this.#change(prepared, input),
      requested: ({ call }) => call.input,
      question: ({ call: { tool, input, preview, digest, itemId } }) => ({
        permission: tool.name,
        input,
        digest,
        preview,
        toolItemId: itemId,
      }),
    });
  }

  /** True while a tool runs. */
  get isRunning(): boolean {
    return this.#runs.isRunning;
  }

  /** The tools of the turn's agent, always the same: asked for when the first is needed. Rejects as their source does. */
  tools(): Promise<readonly Tool[]> {
    this.#tools ??= this.#findTools();
    return this.#tools;
  }

  async #findTools(): Promise<readonly Tool[]> {
    const { settings, signal, request } = this.#turn;
    const { tools: names } = request.agent;
    const all = await settings.tools({ signal });
    return names === undefined ? all : all.filter(({ name }) => names.includes(name));
  }

  /** The turn's tools, before its runner begins. What ended in a turn that is resumed answers the calls that are made again. */
  async begin(): Promise<readonly Tool[]> {
    const tools = await this.tools();
    if (this.#turn.isResumed) this.#recorded = await RecordedCalls.read(this.#turn, tools);
    return tools;
  }

  async call(request: ToolRequest): Promise<ToolOutcome> {
    const prepare = async () =>
      (await this.#prepare(this.#turn.newId("item"), request.tool, request.input)).call.input;
    return (await this.#recorded?.takeOutcome(request, prepare)) ?? (await this.#call(request));
  }

  async #call(request: ToolRequest): Promise<ToolOutcome> {
    const turn = this.#turn;
    const { itemId = turn.newId("item"), approved } = this.#recorded?.takeRepeatable(request) ?? {};
    let prepared: Prepared;
    try {
      if (request.problem !== undefined) throw new ToolError("tool.invalid_input", request.problem);
      prepared = await this.#prepare(itemId, request.tool, request.input);
    } catch (error) {
      const shown = shownOf(request, toJsonObject(request.input));
      await turn.log.start("tool_exec", itemId, { ...shown, status: "pending" });
      return this.#runs.finish(itemId, shown, this.#runs.failure(error));
    }
    let isStarted = false;
    const { after } = request;
    if (approved && isSameInput(prepared.call.input, requestedIn(approved.call.data)))
      return this.#resume(approved, after);
    const ask = (judged: Judged<Prepared, JsonObject>) => {
      isStarted = true;
      return this.#ask(itemId, request, judged);
    };
    const first = await this.#step.decide(await this.#step.judge(prepared), ask);
    const decision = await this.#afterOthers(after, first, ask);
    const { judged, refused, approvedBy } = decision;
    const shown = { ...judgedOf(request, judged), ...(approvedBy !== undefined && { approvedBy }) };
    // A call that was asked about and has not begun says `pending`, also when it was allowed.
    if (!isStarted || !refused)
      await turn.log.start("tool_exec", itemId, { ...shown, status: refused ? "pending" : "running" });
    return this.#conclude(itemId, shown, decision);
  }

  /** Goes on with the calls that wait for their approvals, each by itself; one that comes behind others runs behind them. */
  async resume(calls: PendingWork["calls"]): Promise<void> {
    const resumed: Promise<ToolOutcome>[] = [];
    for (const call of calls) resumed.push(this.#resume(call, Promise.allSettled([...resumed])));
    await Promise.all(resumed);
  }

  /**
   * Goes on with a call of an earlier server that waits for its approval, or has it. It is prepared anew when the answer comes, and
   * runs only if it is still what was shown.
   */
  async #resume(
    { question, call: { itemId, data } }: PendingCall,
    after: Promise<unknown> | undefined,
  ): Promise<ToolOutcome> {
    const { status: _pending, ...waiting } = data;
    const { metadata } = question.data;
    const modified = data.judgement?.modified && defined(data.judgement.modified);
    let prepared: Prepared | undefined;
    const prepare = async () => (prepared ??= await this.#prepare(itemId, data.tool, data.input));
    const verify = async () => {
      try {
        prepared = undefined;
        const { call } = await prepare();
        return call.digest === metadata.digest && call.preview === metadata.preview;
      } catch {
        return false;
      }
    };
    const ask = (next: Judged<Prepared, JsonObject>) => this.#ask(itemId, data, next);
    const first = await this.#step.decideAgain(
      question,
      verify,
      async () => ({ subject: await prepare(), modified }),
      ask,
    );
    const decision = first.judged ? await this.#afterOthers(after, first, ask) : first;
    const { judged, approvedBy, refused } = decision;
    const asked = judged ? judgedOf(data, judged) : waiting;
    const shown = approvedBy === undefined ? asked : { ...asked, approvedBy };
    if (!refused) await this.#turn.log.start("tool_exec", itemId, { ...shown, status: "running" });
    return this.#conclude(itemId, shown, decision);
  }

  /** What was decided of a call, once others have ended that it comes after: they may have changed what it would do. */
  async #afterOthers(
    after: Promise<unknown> | undefined,
    decision: Decision<Prepared, JsonObject>,
    onAsk: (judged: Judged<Prepared, JsonObject>) => Promise<void>,
  ): Promise<Decision<Prepared, JsonObject>> {
    if (after === undefined || decision.refused) return decision;
    await after;
    this.#turn.signal.throwIfAborted();
    const { judged } = decision;
    const { itemId, tool, input, digest: shown, preview } = judged.subject.call;
    try {
      const subject = await this.#prepare(itemId, tool.name, input);
      const { call } = subject;
      if (call.digest === shown && call.preview === preview)
        return { ...decision, judged: { ...judged, subject } };
      return await this.#step.decide(await this.#step.judge(subject, judged.modified), onAsk);
    } catch (error) {
      if (!ToolError.isInstance(error)) throw error;
      const { code, message } = error;
      return { judged, refused: { status: "failed", code, error: message } };
    }
  }

  /** The item of a call that a human is asked about; again where the gate has changed the call since. */
  #ask(itemId: string, asked: Asked, judged: Judged<Prepared, JsonObject>): Promise<void> {
    return this.#turn.log.start("tool_exec", itemId, { ...judgedOf(asked, judged), status: "pending" });
  }

  async #conclude(
    itemId: string,
    shown: Shown,
    { judged, refused, approvedBy: id, approver: by }: LateDecision<Prepared, JsonObject>,
  ): Promise<ToolOutcome> {
    const outcome = refused
      ? await this.#runs.finish(itemId, shown, this.#unlessCancelled(refused))
      : await this.#runs.run(
          itemId,
          shown,
          judged.subject,
          id !== undefined && by !== undefined ? { id, by } : undefined,
        );
    if (judged) await this.#notifyGate(judged.subject.call, outcome);
    return outcome;
  }

  async #prepare(itemId: string, name: string, rawInput: unknown): Promise<Prepared> {
    const { threadId, turnId, directory } = this.#turn.observed;
    const tools = [...(await this.tools()), this.outputReader];
    const tool = tools.find((candidate) => candidate.name === name);
    if (!tool)
      throw new ToolError("tool.unknown", `There is no tool named ${JSON.stringify(name.slice(0, 100))}.`);
    const { input, preview, run } = await prepareCall(tool, rawInput, {
      threadId,
      directory: directory === "" ? undefined : directory,
      callId: itemId,
    });
    const common = { threadId, turnId, itemId, directory, tool, input };
    const call = { ...common, digest: await digest({ tool: name, input }) };
    return { call: preview === undefined ? call : { ...call, preview }, run };
  }

  /** A change is carried out to the letter, or not at all. */
  async #change({ call }: Prepared, input: JsonObject): Promise<Prepared | { readonly unfit: string }> {
    const unfit = (text: string) => ({
      unfit: `It was to be changed to what the tool does not take: ${text}`,
    });
    try {
      const next = await this.#prepare(call.itemId, call.tool.name, input);
      const difference = jsonDifference(input, next.call.input);
      return difference ? unfit(describeDifference(difference)) : next;
    } catch (error) {
      return unfit(this.#runs.failure(error).error ?? "it cannot be prepared");
    }
  }

  /** A refusal by the gate while the turn is being cancelled is a cancellation. */
  #unlessCancelled(refused: ToolOutcome): ToolOutcome {
    return refused.status === "blocked" && this.#turn.signal.aborted ? cancelledCall : refused;
  }

  async #notifyGate(call: JudgedCall, outcome: ToolOutcome): Promise<void> {
    const { gate, onError } = this.#turn.settings;
    await (async () => gate.after?.(call, outcome))().catch(onError);
  }
}
