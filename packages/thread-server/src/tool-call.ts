import type { JsonObject } from "@harnesskit/protocol/envelope";
import type { ItemData } from "@harnesskit/protocol/threads";
import { describeDifference, jsonDifference } from "@harnesskit/wire";
import { defined } from "@harnesskit/wire/json";
import { type PreparedCall, ToolError } from "@harnesskit/wire/tool";
import type { AskedAction } from "./approval-answer.ts";
import { type Decision, GatedAction, type Judged } from "./gated-action.ts";
import type { ItemJudgement } from "./gates.ts";
import type { Pending } from "./pending-questions.ts";
import type { Turn } from "./turn.ts";
import type { JudgedCall, ToolOutcome } from "./turn-runner.ts";

/** A call that can be judged and run. */
export interface Prepared {
  readonly call: JudgedCall;
  readonly run: NonNullable<PreparedCall["run"]>;
}

/** What was asked for, without its input. */
type Asked = Pick<Shown, "tool" | "callId" | "step" | "index" | "providerMetadata">;

/** What a call's item says from its start to its end. */
export type Shown = Omit<ItemData<"tool_exec">, "status">;

export const shownOf = (
  { tool, callId, step, index, providerMetadata }: Asked,
  input: JsonObject,
  judgement?: ItemJudgement<JsonObject>,
): Shown => defined({ tool, input, callId, step, index, providerMetadata, judgement });

export const cancelledCall: ToolOutcome = {
  status: "cancelled",
  error: "The call was cancelled.",
  code: "tool.cancelled",
};

type Input = { readonly input: JsonObject };

/**
 * One tool call: judged by the gate, approved by a human where the gate asks for it, run once, and recorded as one `tool_exec` item. What
 * was approved is the very object that runs.
 */
export class ToolCall extends GatedAction<Prepared, Input, JsonObject> {
  readonly #itemId: string;
  readonly #asked: Asked;
  /** The calls that it runs behind. */
  readonly #after: Promise<unknown> | undefined;
  /** What its item says by now; undefined until it is written. */
  #said: Shown | undefined;

  constructor(turn: Turn, itemId: string, asked: Asked, after: Promise<unknown> | undefined) {
    super(turn, "call", asked.tool);
    this.#itemId = itemId;
    this.#asked = asked;
    this.#after = after;
  }

  async make(prepared: Prepared): Promise<ToolOutcome> {
    return this.#settle(await this.decide(await this.judge(prepared)));
  }

  /**
   * Goes on with a call of an earlier server that waits for its approval, or has it. It is prepared anew when the answer comes, and
   * runs only if it is still what was shown.
   */
  async resume({ question, item: { data } }: Pending<"tool_exec">): Promise<ToolOutcome> {
    const { status: _pending, ...said } = data;
    this.#said = said;
    const { metadata } = question.data;
    const prepare = async () => {
      const prepared = await this.#prepare(data.tool, data.input).catch(() => undefined);
      return prepared && isSameCall(prepared.call, metadata) ? prepared : undefined;
    };
    const modified = data.judgement?.modified && defined(data.judgement.modified);
    return this.#settle(await this.decideAgain(question, prepare, modified));
  }

  protected before({ call }: Prepared) {
    const { settings, signal } = this.turn;
    return settings.gate.before(call, { signal });
  }

  /** A change is carried out to the letter, or not at all. */
  protected async change({ call }: Prepared, { input }: Input) {
    const unfit = (text: string) => ({
      unfit: `It was to be changed to what the tool does not take: ${text}`,
    });
    try {
      const next = await this.#prepare(call.tool.name, input);
      const difference = jsonDifference(input, next.call.input);
      return difference ? unfit(describeDifference(difference)) : next;
    } catch (error) {
      return unfit(this.turn.calls.failure(error, this.tool).error ?? "it cannot be prepared");
    }
  }

  protected requested({ call }: Prepared): JsonObject {
    return call.input;
  }

  protected question({ call: { tool, input, preview, digest, itemId } }: Prepared): AskedAction {
    return { permission: tool.name, input, digest, preview, toolItemId: itemId };
  }

  /** Writes the item of a call that a human is asked about; again where the gate has changed the call since. */
  protected override async onAsk(judged: Judged<Prepared, JsonObject>): Promise<void> {
    this.#said = this.#shown(judged);
    await this.turn.log.start("tool_exec", this.#itemId, { ...this.#said, status: "pending" });
  }

  /** Runs the call as it was decided, and records it. */
  async #settle(first: Decision<Prepared, JsonObject>): Promise<ToolOutcome> {
    const { log, calls, signal, settings } = this.turn;
    const { judged, refused, approval } = await this.#afterOthers(first);
    const said = judged ? this.#shown(judged) : (this.#said ?? shownOf(this.#asked, {}));
    const shown: Shown = defined({ ...said, approvedBy: approval?.id ?? said.approvedBy });
    // A call that was asked about and has not begun says `pending`, also when it was allowed.
    if (!this.#said || !refused)
      await log.start("tool_exec", this.#itemId, { ...shown, status: refused ? "pending" : "running" });
    // A refusal by the gate while the turn is being cancelled is a cancellation.
    const isCancelled = refused?.status === "blocked" && signal.aborted;
    const outcome = refused
      ? await calls.finish(this.#itemId, shown, isCancelled ? cancelledCall : refused)
      : await calls.run(shown, judged.subject, approval);
    const notify = async () => judged && settings.gate.after?.(judged.subject.call, outcome);
    await notify().catch((error: unknown) => this.turn.onError(error, this.tool));
    return outcome;
  }

  /** What was decided, once other calls have ended that this one comes after: they may have changed what it would do. */
  async #afterOthers(decision: Decision<Prepared, JsonObject>): Promise<Decision<Prepared, JsonObject>> {
    if (this.#after === undefined || decision.refused) return decision;
    await this.#after;
    this.turn.signal.throwIfAborted();
    const { judged } = decision;
    const { call } = judged.subject;
    try {
      const subject = await this.#prepare(call.tool.name, call.input);
      if (isSameCall(subject.call, call)) return { ...decision, judged: { ...judged, subject } };
      return await this.decide(await this.judge(subject, { modified: judged.modified }));
    } catch (error) {
      if (!ToolError.isInstance(error)) throw error;
      const { code, message } = error;
      return { judged, refused: { status: "failed", code, error: message } };
    }
  }

  #prepare(name: string, input: JsonObject): Promise<Prepared> {
    return this.turn.calls.prepare(this.#itemId, name, input);
  }

  #shown({ subject, judgement }: Judged<Prepared, JsonObject>): Shown {
    return shownOf(this.#asked, subject.call.input, judgement);
  }
}

const isSameCall = (call: JudgedCall, shown: Pick<AskedAction, "digest" | "preview">): boolean =>
  call.digest === shown.digest && call.preview === shown.preview;
