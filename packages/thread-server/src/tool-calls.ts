import { digest } from "@harnesskit/wire";
import { copyJson } from "@harnesskit/wire/json";
import { wellFormed } from "@harnesskit/wire/replay";
import { prepareCall, type Tool, type ToolContext, ToolError } from "@harnesskit/wire/tool";
import { recordOutcome, toolSpan, traced } from "@harnesskit/wire/trace";
import { createOutputReader } from "./output-reader.ts";
import type { PendingWork } from "./plan-recovery.ts";
import { isSameInput, RecordedCalls, requestedIn, toJsonObject } from "./recorded-calls.ts";
import { cancelledCall, type Prepared, type Shown, shownOf, ToolCall } from "./tool-call.ts";
import { ToolOutput } from "./tool-output.ts";
import type { Turn } from "./turn.ts";
import type { ToolOutcome, ToolRequest } from "./turn-runner.ts";

/** The tools of one turn: prepares calls of them, runs those that are allowed, and records how each ends. */
export class ToolCalls {
  /** The agent's tool for outputs that it was shown a part of. */
  readonly outputReader: Tool;
  readonly #turn: Turn;
  #tools: Promise<readonly Tool[]> | undefined;
  /** Of a turn that is resumed. */
  #recorded: RecordedCalls | undefined;
  #running = 0;

  constructor(turn: Turn) {
    this.#turn = turn;
    this.outputReader = createOutputReader(turn.session);
  }

  /** True while a tool runs. */
  get isRunning(): boolean {
    return this.#running > 0;
  }

  /** The turn's tools, before its runner begins. What ended in a turn that is resumed answers the calls that are made again. Rejects as their source does. */
  async begin(): Promise<readonly Tool[]> {
    const tools = await this.#allowedTools();
    if (this.#turn.isResumed) this.#recorded = await RecordedCalls.read(this.#turn, tools);
    return tools;
  }

  async call(request: ToolRequest): Promise<ToolOutcome> {
    const { createId } = this.#turn.settings;
    const { tool, input, after, problem } = request;
    const prepare = async () => (await this.prepare(createId("item"), tool, input)).call.input;
    const recorded = await this.#recorded?.takeOutcome(request, prepare);
    if (recorded) return recorded;
    const { itemId = createId("item"), approved } = this.#recorded?.takeRepeatable(request) ?? {};
    let prepared: Prepared;
    try {
      if (problem !== undefined) throw new ToolError("tool.invalid_input", problem);
      prepared = await this.prepare(itemId, tool, input);
    } catch (error) {
      const shown = shownOf(request, toJsonObject(input));
      await this.#turn.log.start("tool_exec", itemId, { ...shown, status: "pending" });
      return this.finish(itemId, shown, this.failure(error, tool));
    }
    if (approved && isSameInput(prepared.call.input, requestedIn(approved.item.data)))
      return new ToolCall(this.#turn, itemId, approved.item.data, after).resume(approved);
    return new ToolCall(this.#turn, itemId, request, after).make(prepared);
  }

  /** Goes on with the calls that wait for their approvals, each by itself; one that comes behind others runs behind them. */
  async resume(calls: PendingWork["calls"]): Promise<void> {
    const resumed: Promise<ToolOutcome>[] = [];
    for (const pending of calls) {
      const { itemId, data } = pending.item;
      const after = Promise.allSettled([...resumed]);
      resumed.push(new ToolCall(this.#turn, itemId, data, after).resume(pending));
    }
    await Promise.all(resumed);
  }

  /** Rejects with a `ToolError` where the call cannot be made. */
  async prepare(itemId: string, name: string, rawInput: unknown): Promise<Prepared> {
    const { threadId, turnId, directory } = this.#turn.observed;
    const tools = await this.#allowedTools();
    const tool = [...tools, this.outputReader].find((candidate) => candidate.name === name);
    if (!tool) {
      const names = tools.map((each) => each.name).join(", ");
      const others = names === "" ? "There are no tools." : `There are: ${names}.`;
      const asked = JSON.stringify(name.slice(0, 100));
      throw new ToolError("tool.unknown", `There is no tool named ${asked}. ${others}`);
    }
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

  /** Runs a call that is allowed, and records how it ends. */
  run(shown: Shown, { call, run }: Prepared, approval: ToolContext["approval"]): Promise<ToolOutcome> {
    const { tool, threadId: conversationId, input, itemId } = call;
    const { name, description } = tool;
    const callId = shown.callId ?? itemId;
    const start = () => toolSpan({ tool: name, description, callId, conversationId, input });
    return traced(start, async (span) => {
      const turn = this.#turn;
      turn.settings.observe("callStarted", call);
      this.#running++;
      const log = new ToolOutput(turn, itemId);
      let ended: ToolOutcome;
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
        ended = { status: "succeeded", output: output === undefined ? undefined : copyJson(output) };
      } catch (error) {
        ended = this.failure(error, name);
      }
      await log.completeLogs();
      this.#running--;
      if (!this.isRunning) turn.session.turns.changed();
      const outcome = await this.finish(itemId, shown, ended);
      recordOutcome(span, outcome);
      return outcome;
    });
  }

  /** Records how a call ended; its output as the item and the model have it. */
  async finish(itemId: string, shown: Shown, outcome: ToolOutcome): Promise<ToolOutcome> {
    const { output } = outcome;
    const kept = output === undefined ? outcome : await new ToolOutput(this.#turn, itemId).keep(output);
    await this.#turn.log.complete("tool_exec", itemId, { ...shown, ...outcome, output: kept.output });
    return { ...outcome, ...kept };
  }

  failure(error: unknown, tool: string | undefined): ToolOutcome {
    const { signal } = this.#turn;
    if (!ToolError.isInstance(error)) {
      if (signal.aborted) return cancelledCall;
      this.#turn.onError(error, tool);
      return { status: "failed", error: "The tool failed.", code: "tool.failed" };
    }
    const { code, message, output, mayHaveRun } = error;
    const status = mayHaveRun ? "unknown" : code === "tool.cancelled" ? "cancelled" : "failed";
    return { status, error: message, code, output };
  }

  /** The tools of the turn's agent, always the same: asked for when the first is needed. */
  #allowedTools(): Promise<readonly Tool[]> {
    const { settings, signal, request } = this.#turn;
    const { tools: names } = request.agent;
    this.#tools ??= settings
      .tools({ signal })
      .then((all) => (names === undefined ? all : all.filter(({ name }) => names.includes(name))));
    return this.#tools;
  }
}
