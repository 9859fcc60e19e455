import type { JsonObject, JsonValue } from "@harnesskit/protocol/envelope";
import type { ItemData, ItemOf, Thread } from "@harnesskit/protocol/threads";
import { describeDifference, digest, displayText, HarnessError, jsonDifference } from "@harnesskit/wire";
import type { ActiveTurn } from "./active-turn.ts";
import type { ApprovalFlow, StandingQuestion } from "./approval-flow.ts";
import type { ApprovalAnswer } from "./approvals.ts";
import { findGrant } from "./find-grant.ts";
import { type Judgement, type Modification, toItemJudgement } from "./judgement.ts";
import type { ServerSettings } from "./server-settings.ts";
import { ToolError } from "./tool-error.ts";
import type { ToolVerdict } from "./tool-gate.ts";
import { ToolLog } from "./tool-log.ts";
import { keepOutput } from "./tool-output.ts";
import type { PreparedCall, Tool } from "./tools.ts";
import { tell } from "./turn-observer.ts";
import type { JudgedCall, ToolOutcome, ToolRequest } from "./turn-runner.ts";

/** How often a gate may change one call before it is blocked. */
const maxModifications = 3;

export interface ToolCallsOptions {
  readonly turn: ActiveTurn;
  readonly thread: Thread;
  /** Those of the turn's agent. */
  readonly tools: readonly Tool[];
  readonly flow: ApprovalFlow;
  readonly settings: ServerSettings;
}

interface Prepared {
  readonly call: JudgedCall;
  readonly run: PreparedCall["run"];
}

type FinalVerdict = Exclude<ToolVerdict, { verdict: "modify" }>;

/** What a gate said of a call in the end; `prepared` is what it said it of. */
interface Judged {
  readonly prepared: Prepared;
  readonly verdict: FinalVerdict;
  readonly modified?: Modification<JsonObject>;
}

/** What a call's item says from its start to its end. */
type Shown = Omit<ItemData<"tool_exec">, "status">;

/**
 * The way of one tool call: prepared, judged by the gate, approved by a human where the gate asks for it, run once,
 * recorded as one `tool_exec` item. What was approved is the very object that runs.
 */
export class ToolCalls {
  readonly #options: ToolCallsOptions;
  readonly #byName: ReadonlyMap<string, Tool>;

  constructor(options: ToolCallsOptions) {
    this.#options = options;
    this.#byName = new Map(options.tools.map((tool) => [tool.name, tool]));
  }

  get tools(): readonly Tool[] {
    return this.#options.tools;
  }

  async call(request: ToolRequest): Promise<ToolOutcome> {
    const itemId = this.#options.turn.newId("item");
    let prepared: Prepared;
    try {
      prepared = await this.#prepare(itemId, request.tool, request.input);
    } catch (error) {
      return this.#refuse(itemId, describe(request, toJsonObject(request.input)), this.#failure(error));
    }
    const judged = await this.#judge(prepared);
    const outcome = await this.#carryOut(itemId, request, judged);
    await this.#tellGate(judged.prepared.call, outcome);
    return outcome;
  }

  /**
   * Goes on with a call of an earlier server that waits for its approval. It is prepared anew when the answer comes and
   * runs only if it is still what was shown; the gate is asked again, and its block wins. What it asks has been answered;
   * what it changes is not what was shown.
   */
  async resume(
    { itemId, data }: ItemOf<"tool_exec"> & { data: ItemData<"tool_exec"> },
    question: StandingQuestion,
    wasRequested: boolean,
  ): Promise<void> {
    const { status: _pending, ...shown } = data;
    const { metadata, requestId } = question.data;
    let prepared: Prepared | undefined;
    const verify = async () => {
      try {
        prepared = await this.#prepare(itemId, data.tool, data.input);
      } catch {
        return false;
      }
      return prepared.call.digest === metadata.digest && prepared.call.preview === metadata.preview;
    };
    const answer = await this.#options.flow.standing(question, wasRequested, verify);
    if (!prepared || !allows(answer)) {
      await this.#finish(itemId, shown, refusal(answer));
      return;
    }
    const { call, run } = prepared;
    const judged = await this.#judge(prepared);
    const { verdict } = judged;
    const again: Shown = { ...shown, ...said(judged) };
    let outcome: ToolOutcome;
    if (verdict.verdict === "block") outcome = await this.#finish(itemId, again, this.#blocked(verdict));
    else if (judged.prepared.call.digest !== call.digest)
      outcome = await this.#finish(itemId, again, changed);
    else outcome = await this.#run(itemId, { ...again, approvedBy: requestId }, { call, run });
    await this.#tellGate(call, outcome);
  }

  async #prepare(itemId: string, name: string, rawInput: unknown): Promise<Prepared> {
    const { thread, turn } = this.#options;
    const tool = this.#byName.get(name);
    if (!tool)
      throw new ToolError("tool.unknown", `There is no tool named ${JSON.stringify(name.slice(0, 100))}.`);
    const { threadId, directory } = thread;
    const { input, preview, run } = await tool.prepare(rawInput, { threadId, directory, itemId });
    const common = { threadId, turnId: turn.turnId, itemId, directory, tool, input };
    const call = { ...common, digest: await digest({ tool: name, input }) };
    return { call: preview === undefined ? call : { ...call, preview }, run };
  }

  /** Asks the gate, again after each change that it makes. A gate that cannot answer blocks. */
  async #judge(first: Prepared): Promise<Judged> {
    const { turn, settings } = this.#options;
    let judged: Omit<Judged, "verdict"> = { prepared: first };
    const block = (reason: string, code: string, judgement?: Judgement): Judged => ({
      ...judged,
      verdict: { verdict: "block", reason, code, ...(judgement && { judgement }) },
    });
    for (let changes = 0; ; changes++) {
      const { prepared } = judged;
      let verdict: ToolVerdict;
      try {
        verdict = await settings.gate.before(prepared.call, { signal: turn.signal });
        if (verdict.verdict !== "modify") return { ...judged, verdict };
      } catch (error) {
        settings.onError(error);
        return block("The call could not be judged, so it does not run.", "gate_failed");
      }
      const { judgement, reason, input } = verdict;
      if (changes === maxModifications) {
        settings.onError(new HarnessError("gate_failed", "the gate changes the call again and again"));
        return block("It was to be changed again and again, so it does not run.", "gate_failed", judgement);
      }
      const why = { ...judgement, ...(reason !== undefined && { reason }) };
      const { requested } = judged.modified ?? { requested: prepared.call.input };
      const unfit = (text: string) =>
        block(
          `It was to be changed to what the tool does not take: ${text}`,
          "gate.invalid_input",
          judgement,
        );
      try {
        const next = await this.#prepare(prepared.call.itemId, prepared.call.tool.name, input);
        // A change is carried out to the letter, or not at all.
        const difference = jsonDifference(input, next.call.input);
        if (difference) return unfit(describeDifference(difference));
        judged = { prepared: next, modified: { ...why, requested } };
      } catch (error) {
        return unfit(this.#failure(error).error ?? "it cannot be prepared");
      }
    }
  }

  async #carryOut(itemId: string, request: ToolRequest, judged: Judged): Promise<ToolOutcome> {
    const { turn, thread, flow, settings } = this.#options;
    const { verdict, prepared } = judged;
    const { call } = prepared;
    const shown: Shown = { ...describe(request, call.input), ...said(judged) };
    if (verdict.verdict === "block") return this.#refuse(itemId, shown, this.#blocked(verdict));
    const asks = verdict.verdict === "ask";
    const grant = asks ? await findGrant(settings.store, thread, call) : undefined;
    if (!asks || grant) {
      const allowed = grant ? { ...shown, approvedBy: grant.requestId } : shown;
      await turn.start("tool_exec", itemId, { ...allowed, status: "running" });
      return this.#run(itemId, allowed, prepared);
    }
    await turn.start("tool_exec", itemId, { ...shown, status: "pending" });
    const { requestId, answer } = await flow.askAboutCall(call, verdict.reason);
    return allows(answer)
      ? this.#run(itemId, { ...shown, approvedBy: requestId }, prepared)
      : this.#finish(itemId, shown, refusal(answer));
  }

  async #run(itemId: string, shown: Shown, { call, run }: Prepared): Promise<ToolOutcome> {
    const { turn, thread, settings } = this.#options;
    tell(() => settings.observer.callStarted?.(call), settings.onError);
    const log = new ToolLog({ turn, toolItemId: itemId, threadId: thread.threadId, settings });
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
  async #refuse(itemId: string, shown: Shown, outcome: ToolOutcome): Promise<ToolOutcome> {
    await this.#options.turn.start("tool_exec", itemId, { ...shown, status: "pending" });
    return this.#finish(itemId, shown, outcome);
  }

  async #finish(itemId: string, shown: Shown, outcome: ToolOutcome): Promise<ToolOutcome> {
    const { turn, thread, settings } = this.#options;
    const { output } = outcome;
    const kept =
      output === undefined
        ? outcome
        : {
            ...outcome,
            output: await keepOutput(output, {
              turn,
              toolItemId: itemId,
              threadId: thread.threadId,
              settings,
            }),
          };
    await turn.complete("tool_exec", itemId, { ...shown, ...kept });
    return kept;
  }

  /** A call that nobody waits for any more was not blocked. */
  #blocked(verdict: FinalVerdict & { verdict: "block" }): ToolOutcome {
    return this.#options.turn.signal.aborted ? cancelled : blocked(verdict);
  }

  #failure(error: unknown): ToolOutcome {
    const { turn, settings } = this.#options;
    if (!ToolError.isInstance(error)) {
      if (turn.signal.aborted) return cancelled;
      settings.onError(error);
      return { status: "failed", error: "The tool failed.", code: "tool.failed" };
    }
    const { code, message, output, mayHaveRun } = error;
    const status = mayHaveRun ? "unknown" : code === "tool.cancelled" ? "cancelled" : "failed";
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

const cancelled: ToolOutcome = {
  status: "cancelled",
  error: "The call was cancelled.",
  code: "tool.cancelled",
};

const changed: ToolOutcome = {
  status: "failed",
  error: "What would run is no longer what was shown.",
  code: "approval.changed",
};

/** What the item says of its judgement. */
const said = ({ verdict, modified }: Judged): Pick<ItemData<"tool_exec">, "judgement"> =>
  toItemJudgement(verdict.verdict, verdict.judgement, modified);

const allows = ({ decision }: ApprovalAnswer): boolean => decision === "once" || decision === "always";

const blocked = ({ reason, code = "tool.blocked" }: FinalVerdict & { verdict: "block" }): ToolOutcome => ({
  status: "blocked",
  error: reason,
  code,
});

/** Rejected by a client, not answered in time, no user to ask and changed since are four different ends. */
const refusal = ({ reason, resolvedBy }: ApprovalAnswer): ToolOutcome => {
  const rejected = (code: string, error: string): ToolOutcome => ({ status: "rejected", error, code });
  if (reason === undefined) {
    return rejected("tool.rejected", `This call was rejected by ${displayText(resolvedBy)}.`);
  }
  switch (reason) {
    case "expired":
      return rejected("approval.expired", "This call was not approved in time.");
    case "unattended":
      return rejected("approval.unattended", "No user could be asked to approve this call.");
    case "changed":
      return changed;
  }
};

const describe = ({ tool, callId, step }: ToolRequest, input: JsonObject): Shown => ({
  tool,
  input,
  callId,
  ...(step === undefined ? {} : { step }),
});

const toJsonObject = (input: unknown): JsonObject =>
  typeof input === "object" && input !== null && !Array.isArray(input)
    ? (input as JsonObject)
    : { value: (input ?? null) as JsonValue };
