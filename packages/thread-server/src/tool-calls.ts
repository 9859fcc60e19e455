import type { JsonObject, JsonValue } from "@harnesskit/protocol/envelope";
import type { ApprovalMetadata, ItemData, Thread } from "@harnesskit/protocol/threads";
import { digest, HarnessError } from "@harnesskit/wire";
import type { ActiveTurn } from "./active-turn.ts";
import type { ApprovalAnswer, Approvals } from "./approvals.ts";
import type { ServerSettings } from "./server-settings.ts";
import type { ThreadState } from "./thread-state.ts";
import { ToolError } from "./tool-error.ts";
import type { ToolVerdict } from "./tool-gate.ts";
import { ToolLog } from "./tool-log.ts";
import type { PreparedCall, Tool } from "./tools.ts";
import type { JudgedCall, ToolOutcome, ToolRequest } from "./turn-runner.ts";

/** How often a gate may change one call before it is blocked. */
const maxModifications = 3;

export interface ToolCallsOptions {
  readonly turn: ActiveTurn;
  readonly thread: Thread;
  readonly state: ThreadState;
  readonly tools: ReadonlyMap<string, Tool>;
  readonly approvals: Approvals;
  readonly settings: ServerSettings;
}

interface Prepared {
  readonly call: JudgedCall;
  readonly run: PreparedCall["run"];
}

/**
 * The way of one tool call: prepared, judged by the gate, approved by a human where the gate asks for it, run once,
 * recorded as one `tool_exec` item. What was approved is the very object that runs.
 */
export class ToolCalls {
  readonly #options: ToolCallsOptions;

  constructor(options: ToolCallsOptions) {
    this.#options = options;
  }

  async call(request: ToolRequest): Promise<ToolOutcome> {
    const { turn } = this.#options;
    const itemId = turn.newId("item");
    let prepared: Prepared;
    try {
      prepared = await this.#prepare(itemId, request.tool, request.input);
    } catch (error) {
      return this.#refuse(itemId, request, toJsonObject(request.input), this.#failure(error));
    }
    const judged = await this.#judge(prepared);
    const outcome = await this.#carryOut(itemId, request, judged.prepared, judged.verdict);
    await this.#tellGate(judged.prepared.call, outcome);
    return outcome;
  }

  async #prepare(itemId: string, name: string, rawInput: unknown): Promise<Prepared> {
    const { thread, turn, tools } = this.#options;
    const tool = tools.get(name);
    if (!tool)
      throw new ToolError("tool.unknown", `There is no tool named ${JSON.stringify(name.slice(0, 100))}.`);
    const { threadId, directory } = thread;
    const { input, preview, run } = await tool.prepare(rawInput, { threadId, directory });
    const common = { threadId, turnId: turn.turnId, itemId, directory, tool, input };
    const call = { ...common, digest: await digest({ tool: name, input }) };
    return { call: preview === undefined ? call : { ...call, preview }, run };
  }

  /** Asks the gate, again after each change that it makes. A gate that cannot answer blocks. */
  async #judge(
    prepared: Prepared,
  ): Promise<{ prepared: Prepared; verdict: Exclude<ToolVerdict, { verdict: "modify" }> }> {
    const { turn, settings } = this.#options;
    for (let changes = 0; ; changes++) {
      let verdict: ToolVerdict;
      try {
        verdict = await settings.gate.before(prepared.call, { signal: turn.signal });
        if (verdict.verdict !== "modify") return { prepared, verdict };
        if (changes === maxModifications)
          throw new HarnessError("gate_failed", "the gate changes the call again and again");
        prepared = await this.#prepare(prepared.call.itemId, prepared.call.tool.name, verdict.input);
      } catch (error) {
        settings.onError(error);
        const reason = "The call could not be judged, so it does not run.";
        return { prepared, verdict: { verdict: "block", reason, code: "gate_failed" } };
      }
    }
  }

  async #carryOut(
    itemId: string,
    request: ToolRequest,
    { call, run }: Prepared,
    verdict: Exclude<ToolVerdict, { verdict: "modify" }>,
  ): Promise<ToolOutcome> {
    const { turn, state } = this.#options;
    if (verdict.verdict === "block") {
      const { reason: error, code = "tool.blocked" } = verdict;
      return this.#refuse(itemId, request, call.input, { status: "blocked", error, code });
    }
    const granted = verdict.verdict === "ask" ? state.grantOf(call.digest) : undefined;
    const asks = verdict.verdict === "ask" && granted === undefined;
    const shown = {
      ...describe(request, call.input),
      ...(granted === undefined ? {} : { approvedBy: granted }),
    };
    await turn.start("tool_exec", itemId, { ...shown, status: asks ? "pending" : "running" });
    if (!asks) return this.#run(itemId, shown, run);
    const { requestId, answer } = await this.#ask(call, verdict.reason);
    if (answer.decision !== "reject") return this.#run(itemId, { ...shown, approvedBy: requestId }, run);
    const error = "The user refused this call.";
    return this.#finish(itemId, shown, { status: "rejected", error, code: "tool.rejected" });
  }

  /** Asks the user. The answer is stored before it counts. */
  async #ask(
    call: JudgedCall,
    reason: string | undefined,
  ): Promise<{ requestId: string; answer: ApprovalAnswer }> {
    const { turn, approvals, thread } = this.#options;
    const itemId = turn.newId("item");
    const requestId = turn.newId("apr");
    const { tool, input, preview, digest: callDigest } = call;
    const metadata: ApprovalMetadata = { tool: tool.name, input, digest: callDigest };
    if (preview !== undefined) metadata.preview = preview;
    if (reason !== undefined) metadata.reason = reason;
    const permission = tool.name;
    const data: ItemData<"approval"> = { requestId, permission, metadata, toolItemId: call.itemId };
    const record = ({ decision, resolvedBy }: ApprovalAnswer, onWritten: () => void) =>
      turn.complete("approval", itemId, { ...data, decision, resolvedBy }, onWritten);
    const answer = approvals.wait(requestId, record, turn.signal);
    await turn.start("approval", itemId, data);
    const ids = { threadId: thread.threadId, turnId: turn.turnId, itemId };
    await turn.append({ type: "approval.requested", data: { ...ids, requestId, permission, metadata } });
    return { requestId, answer: await turn.waiting(answer) };
  }

  async #run(
    itemId: string,
    shown: ReturnType<typeof describe>,
    run: PreparedCall["run"],
  ): Promise<ToolOutcome> {
    const { turn, settings } = this.#options;
    const log = new ToolLog(turn, itemId, settings.maxLogLength);
    let outcome: ToolOutcome;
    try {
      outcome = { status: "succeeded", output: await run({ signal: turn.signal, log: log.write }) };
    } catch (error) {
      outcome = this.#failure(error);
    }
    await log.complete();
    return this.#finish(itemId, shown, outcome);
  }

  /** Records a call that does not run. */
  async #refuse(
    itemId: string,
    request: ToolRequest,
    input: JsonObject,
    outcome: ToolOutcome,
  ): Promise<ToolOutcome> {
    const shown = describe(request, input);
    await this.#options.turn.start("tool_exec", itemId, { ...shown, status: "pending" });
    return this.#finish(itemId, shown, outcome);
  }

  async #finish(
    itemId: string,
    shown: ReturnType<typeof describe>,
    outcome: ToolOutcome,
  ): Promise<ToolOutcome> {
    const { turn, settings } = this.#options;
    const kept =
      outcome.output === undefined
        ? outcome
        : { ...outcome, output: boundOutput(outcome.output, settings.maxOutputLength) };
    await turn.complete("tool_exec", itemId, { ...shown, ...kept });
    return kept;
  }

  #failure(error: unknown): ToolOutcome {
    const { turn, settings } = this.#options;
    if (!ToolError.isInstance(error)) {
      if (!turn.signal.aborted) settings.onError(error);
      const status = turn.signal.aborted ? "cancelled" : "failed";
      return {
        status,
        error: status === "failed" ? "The tool failed." : "The call was cancelled.",
        code: `tool.${status}`,
      };
    }
    const { code, message, output } = error;
    const status = code === "tool.cancelled" ? "cancelled" : "failed";
    return { status, error: message, code, ...(output === undefined ? {} : { output }) };
  }

  async #tellGate(call: JudgedCall, outcome: ToolOutcome): Promise<void> {
    const { gate, onError } = this.#options.settings;
    try {
      await gate.after?.(call, outcome);
    } catch (error) {
      onError(error);
    }
  }
}

/** What a call's item says from its start to its end. */
const describe = (
  { tool, callId, step }: ToolRequest,
  input: JsonObject,
): Omit<ItemData<"tool_exec">, "status"> => ({
  tool,
  input,
  callId,
  ...(step === undefined ? {} : { step }),
});

const toJsonObject = (input: unknown): JsonObject =>
  typeof input === "object" && input !== null && !Array.isArray(input)
    ? (input as JsonObject)
    : { value: (input ?? null) as JsonValue };

const boundOutput = (output: JsonValue, maxOutputLength: number): JsonValue => {
  const text = JSON.stringify(output);
  return text.length <= maxOutputLength
    ? output
    : { truncated: true, length: text.length, head: text.slice(0, maxOutputLength) };
};
