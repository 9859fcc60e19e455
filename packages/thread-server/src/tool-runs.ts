import type { JsonObject } from "@harnesskit/protocol/envelope";
import type { ItemData } from "@harnesskit/protocol/threads";
import { copyJson, defined } from "@harnesskit/wire/json";
import { type PreparedCall, type ToolContext, ToolError } from "@harnesskit/wire/tool";
import { recordOutcome, toolSpan, traced } from "@harnesskit/wire/trace";
import { ToolOutput } from "./tool-output.ts";
import type { Turn } from "./turn.ts";
import type { JudgedCall, ToolOutcome } from "./turn-runner.ts";

/** A call that can be judged and run. */
export interface Prepared {
  readonly call: JudgedCall;
  readonly run: NonNullable<PreparedCall["run"]>;
}

/** What was asked for, without its input. */
export type Asked = Pick<Shown, "tool" | "callId" | "step" | "index" | "providerMetadata">;

/** What a call's item says from its start to its end. */
export type Shown = Omit<ItemData<"tool_exec">, "status">;

export const shownOf = ({ tool, callId, step, index, providerMetadata }: Asked, input: JsonObject): Shown =>
  defined({ tool, input, callId, step, index, providerMetadata });

export const cancelledCall: ToolOutcome = {
  status: "cancelled",
  error: "The call was cancelled.",
  code: "tool.cancelled",
};

/** Runs calls that are allowed, and records how calls end. */
export class ToolRuns {
  readonly #turn: Turn;
  #running = 0;

  constructor(turn: Turn) {
    this.#turn = turn;
  }

  /** True while a tool runs. */
  get isRunning(): boolean {
    return this.#running > 0;
  }

  run(
    itemId: string,
    shown: Shown,
    prepared: Prepared,
    approval: ToolContext["approval"],
  ): Promise<ToolOutcome> {
    const { tool, threadId: conversationId, input } = prepared.call;
    const { name, description } = tool;
    const callId = shown.callId ?? itemId;
    const start = () => toolSpan({ tool: name, description, callId, conversationId, input });
    return traced(start, async (span) => {
      const outcome = await this.#runPrepared(itemId, shown, prepared, approval);
      recordOutcome(span, outcome);
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
    this.#running++;
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
      outcome = this.failure(error);
    }
    await log.completeLogs();
    this.#running--;
    if (!this.isRunning) turn.session.turns.changed();
    return this.finish(itemId, shown, outcome);
  }

  async finish(itemId: string, shown: Shown, outcome: ToolOutcome): Promise<ToolOutcome> {
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

  failure(error: unknown): ToolOutcome {
    const { signal, settings } = this.#turn;
    if (!ToolError.isInstance(error)) {
      if (signal.aborted) return cancelledCall;
      settings.onError(error);
      return { status: "failed", error: "The tool failed.", code: "tool.failed" };
    }
    const { code, message, output, mayHaveRun } = error;
    const status = mayHaveRun ? "unknown" : code === "tool.cancelled" ? "cancelled" : "failed";
    return { status, error: message, code, output };
  }
}
