import type { JsonObject } from "@harnesskit/protocol/envelope";
import { describeDifference, digest, jsonDifference } from "@harnesskit/wire";
import { defined } from "@harnesskit/wire/json";
import { wellFormed } from "@harnesskit/wire/replay";
import { prepareCall, type Tool, ToolError } from "@harnesskit/wire/tool";
import type { AskedAction } from "./approval-answer.ts";
import { type Decision, GatedStep, type Judged } from "./gated-step.ts";
import { createOutputReader } from "./output-reader.ts";
import type { Pending, PendingWork } from "./pending-work.ts";
import { isSameInput, RecordedCalls, requestedIn, toJsonObject } from "./recorded-calls.ts";
import { type Asked, cancelledCall, type Prepared, type Shown, shownOf, ToolRuns } from "./tool-runs.ts";
import type { Turn } from "./turn.ts";
import type { JudgedCall, ToolOutcome, ToolRequest } from "./turn-runner.ts";

const texts = {
  notJudged: "The call could not be judged, so it does not run.",
  tooManyChanges: "It was to be changed again and again, so it does not run.",
  changed: "What would run is no longer what was shown.",
};

type Input = { readonly input: JsonObject };
type JudgedTool = Judged<Prepared, JsonObject>;

/** A call as its item knows it. */
interface Item {
  readonly itemId: string;
  /** What was asked for. */
  readonly asked: Asked;
  /** The calls that it runs behind. */
  readonly after: Promise<unknown> | undefined;
  /** What its item says by now, once it is written. */
  said: Shown;
  isWritten: boolean;
}

/**
 * Runs tool calls: each is prepared, judged by the gate, approved by a human where the gate asks for it, run once, and
 * recorded as one `tool_exec` item. What was approved is the very object that runs.
 */
export class ToolCalls extends GatedStep<Prepared, Input, JsonObject> {
  /** The agent's tool for outputs that it was shown a part of. */
  readonly outputReader: Tool;
  readonly #runs: ToolRuns;
  #tools: Promise<readonly Tool[]> | undefined;
  /** Of a turn that is resumed. */
  #recorded: RecordedCalls | undefined;

  constructor(turn: Turn) {
    super(turn, "call", texts);
    this.outputReader = createOutputReader(turn.session);
    this.#runs = new ToolRuns(turn);
  }

  /** True while a tool runs. */
  get isRunning(): boolean {
    return this.#runs.isRunning;
  }

  /** The turn's tools, before its runner begins. What ended in a turn that is resumed answers the calls that are made again. Rejects as their source does. */
  async begin(): Promise<readonly Tool[]> {
    const tools = await this.#allowedTools();
    if (this.turn.isResumed) this.#recorded = await RecordedCalls.read(this.turn, tools);
    return tools;
  }

  async call(request: ToolRequest): Promise<ToolOutcome> {
    const prepare = async () =>
      (await this.#prepare(this.turn.settings.createId("item"), request.tool, request.input)).call.input;
    return (await this.#recorded?.takeOutcome(request, prepare)) ?? (await this.#call(request));
  }

  /** Goes on with the calls that wait for their approvals, each by itself; one that comes behind others runs behind them. */
  async resume(calls: PendingWork["calls"]): Promise<void> {
    const resumed: Promise<ToolOutcome>[] = [];
    for (const call of calls) resumed.push(this.#resume(call, Promise.allSettled([...resumed])));
    await Promise.all(resumed);
  }

  protected before({ call }: Prepared) {
    const { gate } = this.turn.settings;
    return gate.before(call, { signal: this.turn.signal });
  }

  /** A change is carried out to the letter, or not at all. */
  protected async change(
    { call }: Prepared,
    { input }: Input,
  ): Promise<Prepared | { readonly unfit: string }> {
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

  protected requested({ call }: Prepared): JsonObject {
    return call.input;
  }

  protected question({ call: { tool, input, preview, digest, itemId } }: Prepared): AskedAction {
    return { permission: tool.name, input, digest, preview, toolItemId: itemId };
  }

  /** The tools of the turn's agent, always the same: asked for when the first is needed. */
  #allowedTools(): Promise<readonly Tool[]> {
    const { settings, signal, request } = this.turn;
    const { tools: names } = request.agent;
    this.#tools ??= settings
      .tools({ signal })
      .then((all) => (names === undefined ? all : all.filter(({ name }) => names.includes(name))));
    return this.#tools;
  }

  async #call(request: ToolRequest): Promise<ToolOutcome> {
    const { itemId = this.turn.settings.createId("item"), approved } =
      this.#recorded?.takeRepeatable(request) ?? {};
    let prepared: Prepared;
    try {
      if (request.problem !== undefined) throw new ToolError("tool.invalid_input", request.problem);
      prepared = await this.#prepare(itemId, request.tool, request.input);
    } catch (error) {
      const shown = shownOf(request, toJsonObject(request.input));
      await this.turn.log.start("tool_exec", itemId, { ...shown, status: "pending" });
      return this.#runs.finish(itemId, shown, this.#runs.failure(error));
    }
    const { after } = request;
    if (approved && isSameInput(prepared.call.input, requestedIn(approved.item.data)))
      return this.#resume(approved, after);
    const said = shownOf(request, prepared.call.input);
    const item: Item = { itemId, asked: request, after, said, isWritten: false };
    const judged = await this.judge({ subject: prepared });
    return this.#settle(item, await this.decide(judged, (asked) => this.#wait(item, asked)));
  }

  /**
   * Goes on with a call of an earlier server that waits for its approval, or has it. It is prepared anew when the answer comes, and
   * runs only if it is still what was shown.
   */
  async #resume(
    { question, item: { itemId, data } }: Pending<"tool_exec">,
    after: Promise<unknown> | undefined,
  ): Promise<ToolOutcome> {
    const { status: _pending, ...said } = data;
    const item: Item = { itemId, asked: data, after, said, isWritten: true };
    const { metadata } = question.data;
    const modified = data.judgement?.modified && defined(data.judgement.modified);
    const prepare = () => this.#prepare(itemId, data.tool, data.input);
    let prepared: Prepared | undefined;
    const verify = async () => {
      try {
        prepared = await prepare();
        return prepared.call.digest === metadata.digest && prepared.call.preview === metadata.preview;
      } catch {
        return false;
      }
    };
    const first = async () => ({ subject: prepared ?? (await prepare()), modified });
    const ask = (judged: JudgedTool) => this.#wait(item, judged);
    return this.#settle(item, await this.decideAgain(question, verify, first, ask));
  }

  /** Writes the item of a call that a human is asked about; again where the gate has changed the call since. */
  async #wait(item: Item, judged: JudgedTool): Promise<void> {
    item.said = judgedOf(item.asked, judged);
    item.isWritten = true;
    await this.turn.log.start("tool_exec", item.itemId, { ...item.said, status: "pending" });
  }

  /** Runs a call as it was decided, and records it. */
  async #settle(item: Item, first: Decision<Prepared, JsonObject>): Promise<ToolOutcome> {
    const { itemId } = item;
    const decision = await this.#afterOthers(item, first);
    const { judged, refused, approvedBy: id, approver: by } = decision;
    const said = judged ? judgedOf(item.asked, judged) : item.said;
    const shown: Shown = defined({ ...said, approvedBy: id ?? said.approvedBy });
    // A call that was asked about and has not begun says `pending`, also when it was allowed.
    if (!item.isWritten || !refused)
      await this.turn.log.start("tool_exec", itemId, { ...shown, status: refused ? "pending" : "running" });
    const approval = id !== undefined && by !== undefined ? { id, by } : undefined;
    const outcome = refused
      ? await this.#runs.finish(itemId, shown, this.#unlessCancelled(refused))
      : await this.#runs.run(itemId, shown, judged.subject, approval);
    if (judged) await this.#notifyGate(judged.subject.call, outcome);
    return outcome;
  }

  /** What was decided of a call, once others have ended that it comes after: they may have changed what it would do. */
  async #afterOthers(
    item: Item,
    decision: Decision<Prepared, JsonObject>,
  ): Promise<Decision<Prepared, JsonObject>> {
    if (item.after === undefined || decision.refused) return decision;
    await item.after;
    this.turn.signal.throwIfAborted();
    const { judged } = decision;
    const { itemId, tool, input, digest: shown, preview } = judged.subject.call;
    try {
      const subject = await this.#prepare(itemId, tool.name, input);
      const { call } = subject;
      if (call.digest === shown && call.preview === preview)
        return { ...decision, judged: { ...judged, subject } };
      const again = await this.judge({ subject, modified: judged.modified });
      return await this.decide(again, (asked) => this.#wait(item, asked));
    } catch (error) {
      if (!ToolError.isInstance(error)) throw error;
      const { code, message } = error;
      return { judged, refused: { status: "failed", code, error: message } };
    }
  }

  async #prepare(itemId: string, name: string, rawInput: unknown): Promise<Prepared> {
    const { threadId, turnId, directory } = this.turn.observed;
    const tools = [...(await this.#allowedTools()), this.outputReader];
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
    // One that was cut in the middle of a character is shown, stored and compared as it can be stored.
    return { call: preview === undefined ? call : { ...call, preview: wellFormed(preview) }, run };
  }

  /** A refusal by the gate while the turn is being cancelled is a cancellation. */
  #unlessCancelled(refused: ToolOutcome): ToolOutcome {
    return refused.status === "blocked" && this.turn.signal.aborted ? cancelledCall : refused;
  }

  async #notifyGate(call: JudgedCall, outcome: ToolOutcome): Promise<void> {
    const { gate, onError } = this.turn.settings;
    await (async () => gate.after?.(call, outcome))().catch(onError);
  }
}

const judgedOf = (asked: Asked, { subject, said }: JudgedTool): Shown => ({
  ...shownOf(asked, subject.call.input),
  ...said,
});
