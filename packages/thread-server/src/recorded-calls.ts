import type { JsonObject, JsonValue } from "@harnesskit/protocol/envelope";
import type { ItemData } from "@harnesskit/protocol/threads";
import { jsonDifference } from "@harnesskit/wire";
import { defined, isObject, jsonProblem } from "@harnesskit/wire/json";
import type { Tool } from "@harnesskit/wire/tool";
import { answersIn, closeOpenItems, serverStopped } from "./close-open-items.ts";
import { isCall, isOpen, type Pending, readPending } from "./pending-questions.ts";
import type { Turn } from "./turn.ts";
import type { ToolOutcome, ToolRequest } from "./turn-runner.ts";

/** An input as its item says it before it is prepared: empty where it nests too deep to be kept, sent and read again. */
export const toJsonObject = (input: unknown): JsonObject => {
  if (jsonProblem(input)?.code === "too_deep") return {};
  return isObject(input) ? (input as JsonObject) : { value: (input ?? null) as JsonValue };
};

const notKept = "The input could not be kept over the end of the server: make the call again.";

/** A call as its step's record keeps it. */
export const toRecordedCall = ({ callId, index, tool, input, problem, providerMetadata }: ToolRequest) => {
  const isKept = isObject(input) && jsonProblem(input) === undefined;
  return defined({
    callId,
    index,
    tool,
    input: toJsonObject(input),
    problem: problem ?? (isKept ? undefined : notKept),
    providerMetadata,
  });
};

export const isSameInput = (one: unknown, other: unknown): boolean =>
  jsonDifference(one, other) === undefined;

/** What was asked for, before a gate changed it. */
export const requestedIn = ({ input, judgement }: ItemData<"tool_exec">): JsonObject =>
  judgement?.modified?.requested ?? input;

const outcomeOf = ({ status, output, error, code }: ItemData<"tool_exec">): ToolOutcome =>
  defined({
    status: status === "pending" || status === "running" ? "unknown" : status,
    ...{ output, error, code },
  });

/** A call that was made, has no recorded end, and may run again. */
export interface InterruptedCall {
  readonly itemId: string;
  readonly data: ItemData<"tool_exec">;
  /** With its question, where a human allowed it. */
  readonly approved?: Pending<"tool_exec"> | undefined;
}

/** True for a tool that may run again with the same input. */
const isRepeatable = (tool: Tool | undefined): boolean =>
  tool?.effects === "read" || tool?.idempotent === true;

/** The calls of a turn that an earlier server began. */
export class RecordedCalls {
  /** Those that have ended and have answered no call yet, in the order of the log. */
  readonly #ended: ItemData<"tool_exec">[];
  readonly #repeatable: InterruptedCall[];

  private constructor(ended: ItemData<"tool_exec">[], repeatable: InterruptedCall[]) {
    this.#ended = ended;
    this.#repeatable = repeatable;
  }

  /**
   * Reads them, and closes those that were left open: one that may have run ends as `unknown`. One that has not begun, or whose tool
   * only reads or is `idempotent`, stays open, and runs when it is made again.
   */
  static async read({ session, turnId }: Turn, tools: readonly Tool[]): Promise<RecordedCalls> {
    const { state, settings, log } = session;
    const approved = (await readPending(state, settings.store.answerSeal)).filter(isCall).filter(isOpen);
    const answers = answersIn(state.history);
    const repeatable: InterruptedCall[] = [];
    const rest = state.openItems.filter(({ item }) => {
      if (item.turnId !== turnId || item.type !== "tool_exec") return false;
      const { itemId, data } = item;
      if (!data || answers.get(itemId) === "reject") return true;
      if (data.status !== "pending" && !isRepeatable(tools.find(({ name }) => name === data.tool)))
        return true;
      repeatable.push({ itemId, data, approved: approved.find((each) => each.item.itemId === itemId) });
      return false;
    });
    const ends = closeOpenItems(rest, serverStopped, "interrupted", state.history);
    await Promise.all(ends.map((body) => log.append(body)));
    const ended = state.history.flatMap((item) =>
      item.turnId === turnId && item.type === "tool_exec" && item.data ? [item.data] : [],
    );
    return new RecordedCalls(ended, repeatable);
  }

  /** The request as an earlier server left it, where it runs again. */
  takeRepeatable({ callId, tool, step }: ToolRequest): InterruptedCall | undefined {
    const index = this.#repeatable.findIndex(
      ({ data }) =>
        callId !== undefined && data.callId === callId && data.tool === tool && data.step === step,
    );
    return index < 0 ? undefined : this.#repeatable.splice(index, 1)[0];
  }

  /**
   * The recorded outcome of the request; undefined where it is to be made. Each call that has ended answers one more like it.
   *
   * @param prepare the input as it would be recorded
   */
  async takeOutcome(
    { callId, tool, input, step }: ToolRequest,
    prepare: () => Promise<JsonObject>,
  ): Promise<ToolOutcome | undefined> {
    // Models repeat their ids from step to step.
    const candidates = this.#ended.filter(
      (data) => callId !== undefined && data.callId === callId && data.tool === tool && data.step === step,
    );
    if (candidates.length === 0) return undefined;
    // What ran already can often not be prepared again (an edit finds its text no more): preparing has only added to the input.
    const prepared = await prepare().catch(() => undefined);
    const found = candidates.find((data) => {
      // Another call may have taken it meanwhile.
      if (!this.#ended.includes(data)) return false;
      const requested = requestedIn(data);
      return isSameInput(prepared ?? { ...requested, ...toJsonObject(input) }, requested);
    });
    if (!found) return undefined;
    this.#ended.splice(this.#ended.indexOf(found), 1);
    return outcomeOf(found);
  }
}
