import type { JsonObject } from "@harnesskit/protocol/envelope";
import type { Item, ItemData, ItemOf } from "@harnesskit/protocol/threads";
import { describeDifference, digest, jsonDifference } from "@harnesskit/wire";
import { copyJson, defined } from "@harnesskit/wire/json";
import {
  type PreparedCall,
  prepareCall,
  type Tool,
  type ToolContext,
  ToolError,
} from "@harnesskit/wire/tool";
import { traced } from "@harnesskit/wire/trace";
import type { PendingQuestion } from "./approval-flow.ts";
import { GatedStep, type Judged, type LateDecision } from "./gated-step.ts";
import { RecordedCalls, toJsonObject } from "./recorded-calls.ts";
import { ToolOutput } from "./tool-output.ts";
import type { Turn } from "./turn.ts";
import type { JudgedCall, ToolOutcome, ToolRequest } from "./turn-runner.ts";

interface Prepared {
  readonly call: JudgedCall;
  readonly run: NonNullable<PreparedCall["run"]>;
}

/** What was asked for, without its input. */
type Asked = Pick<Shown, "tool" | "callId" | "step" | "providerMetadata">;

/** What a call's item says from its start to its end. */
type Shown = Omit<ItemData<"tool_exec">, "status">;

const texts = {
  notJudged: "The call could not be judged, so it does not run.",
  tooManyChanges: "It was to be changed again and again, so it does not run.",
  changed: "What would run is no longer what was shown.",
};

const cancelled: ToolOutcome = {
  status: "cancelled",
  error: "The call was cancelled.",
  code: "tool.cancelled",
};

/**
 * Runs tool calls: each is prepared, judged by the gate, approved by a human where the gate asks for it, run once, and
 * recorded as one `tool_exec` item. What was approved is the very object that runs.
 */
export class ToolCalls {
  readonly #turn: Turn;
  #tools: Promise<readonly Tool[]> | undefined;
  readonly #recorded = new RecordedCalls();
  readonly #step: GatedStep<Prepared, { readonly input: JsonObject }, JsonObject>;

  constructor(turn: Turn) {
    this.#turn = turn;
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

  /** The turn is resumed: what ended in it answers the calls that its runner makes again. */
  recall(history: readonly Item[]): void {
    this.#recorded.recall(this.#turn.turnId, history);
  }

  call(request: ToolRequest): Promise<ToolOutcome> {
    const prepare = async () =>
      (await this.#prepare(this.#turn.newId("item"), request.tool, request.input)).call.input;
    return this.#recorded.run(request, prepare, () => this.#call(request));
  }

  async #call(request: ToolRequest): Promise<ToolOutcome> {
    const turn = this.#turn;
    const itemId = turn.newId("item");
    let prepared: Prepared;
    try {
      if (request.problem !== undefined) throw new ToolError("tool.invalid_input", request.problem);
      prepared = await this.#prepare(itemId, request.tool, request.input);
    } catch (error) {
      const shown = shownOf(request, toJsonObject(request.input));
      await turn.log.start("tool_exec", itemId, { ...shown, status: "pending" });
      return this.#finish(itemId, shown, this.#failure(error));
    }
    let isStarted = false;
    const decision = await this.#step.decide(await this.#step.judge(prepared), (judged) => {
      isStarted = true;
      return this.#ask(itemId, request, judged);
    });
    const { judged, refused, approvedBy } = decision;
    const shown = { ...judgedOf(request, judged), ...(approvedBy !== undefined && { approvedBy }) };
    if (!isStarted)
      await turn.log.start("tool_exec", itemId, { ...shown, status: refused ? "pending" : "running" });
    return this.#conclude(itemId, shown, decision);
  }

  /**
   * Goes on with a call of an earlier server that waits for its approval. It is prepared anew when the answer comes, and
   * runs only if it is still what was shown.
   */
  async resume(
    { itemId, data }: ItemOf<"tool_exec"> & { data: ItemData<"tool_exec"> },
    question: PendingQuestion,
  ): Promise<void> {
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
    const decision = await this.#step.decideAgain(
      question,
      verify,
      async () => ({ subject: await prepare(), modified }),
      (judged) => this.#ask(itemId, data, judged),
    );
    const { judged, approvedBy } = decision;
    const shown = judged ? judgedOf(data, judged) : waiting;
    await this.#conclude(itemId, approvedBy === undefined ? shown : { ...shown, approvedBy }, decision);
  }

  /** The item of a call that a human is asked about; again where the gate has changed the call since. */
  #ask(itemId: string, asked: Asked, judged: Judged<Prepared, JsonObject>): Promise<void> {
    const shown = judgedOf(asked, judged);
    return this.#turn.log.start("tool_exec", itemId, { ...shown, status: "pending" });
  }

  async #conclude(
    itemId: string,
    shown: Shown,
    { judged, refused, approvedBy: id, approver: by }: LateDecision<Prepared, JsonObject>,
  ): Promise<ToolOutcome> {
    const outcome = refused
      ? await this.#finish(itemId, shown, this.#unlessCancelled(refused))
      : await this.#run(
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
    const tool = (await this.tools()).find((candidate) => candidate.name === name);
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
      return unfit(this.#failure(error).error ?? "it cannot be prepared");
    }
  }

  #run(
    itemId: string,
    shown: Shown,
    prepared: Prepared,
    approval: ToolContext["approval"],
  ): Promise<ToolOutcome> {
    const { tool, threadId: conversationId, input } = prepared.call;
    const { name, description } = tool;
    const details = () => ({
      tool: name,
      description,
      callId: shown.callId ?? itemId,
      conversationId,
      input,
    });
    return traced("tool", details, async (operation) => {
      const outcome = await this.#runPrepared(itemId, shown, prepared, approval);
      const { status, code, output } = outcome;
      operation?.set({ status, code, output });
      return outcome;
    });
  }

  async #runPrepared(
    itemId: string,
    shown: Shown,
    { call, run }: Prepared,
    approval: ToolContext["approval"],
  ): Promise<ToolOutcome> {
    const turn = this.#turn;
    turn.settings.observe("callStarted", call);
    const log = new ToolOutput(turn, itemId);
    let outcome: ToolOutcome;
    try {
      const output = await run({
        callId: itemId,
        signal: turn.signal,
        stdout: (text) => log.write("stdout", text),
        stderr: (text) => log.write("stderr", text),
        log: (text) => log.write("log", `${text}\n`),
        status: (text) => log.write("status", `${text}\n`),
        partialResult: (json) => log.write("partial_result", `${JSON.stringify(json)}\n`),
        approval,
      });
      outcome = { status: "succeeded", output: output === undefined ? undefined : copyJson(output) };
    } catch (error) {
      outcome = this.#failure(error);
    }
    await log.completeLogs();
    return this.#finish(itemId, shown, outcome);
  }

  async #finish(itemId: string, shown: Shown, outcome: ToolOutcome): Promise<ToolOutcome> {
    const turn = this.#turn;
    const { output } = outcome;
    if (output === undefined) {
      await turn.log.complete("tool_exec", itemId, { ...shown, ...outcome });
      return outcome;
    }
    const kept = await new ToolOutput(turn, itemId).keep(output);
    await turn.log.complete("tool_exec", itemId, { ...shown, ...outcome, output: kept.output });
    return { ...outcome, ...kept };
  }

  /** A refusal by the gate while the turn is being cancelled is a cancellation. */
  #unlessCancelled(refused: ToolOutcome): ToolOutcome {
    return refused.status === "blocked" && this.#turn.signal.aborted ? cancelled : refused;
  }

  #failure(error: unknown): ToolOutcome {
    const { signal, settings } = this.#turn;
    if (!ToolError.isInstance(error)) {
      if (signal.aborted) return cancelled;
      settings.onError(error);
      return { status: "failed", error: "The tool failed.", code: "tool.failed" };
    }
    const { code, message, output, mayHaveRun } = error;
    const status = mayHaveRun ? "unknown" : code === "tool.cancelled" ? "cancelled" : "failed";
    return { status, error: message, code, output };
  }

  async #notifyGate(call: JudgedCall, outcome: ToolOutcome): Promise<void> {
    const { gate, onError } = this.#turn.settings;
    await (async () => gate.after?.(call, outcome))().catch(onError);
  }
}

const shownOf = ({ tool, callId, step, providerMetadata }: Asked, input: JsonObject): Shown =>
  defined({ tool, input, callId, step, providerMetadata });

const judgedOf = (asked: Asked, { subject, said }: Judged<Prepared, JsonObject>): Shown => ({
  ...shownOf(asked, subject.call.input),
  ...said,
});
