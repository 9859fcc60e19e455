import type { JsonObject, JsonValue } from "@harnesskit/protocol/envelope";
import type { Item, ItemData } from "@harnesskit/protocol/threads";
import { jsonDifference } from "@harnesskit/wire";
import { defined, isObject, jsonProblem } from "@harnesskit/wire/json";
import { callRunning } from "./errors.ts";
import type { InterruptedCall } from "./interrupted-calls.ts";
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

/** The calls of a turn by the ids that its runner gives them: which run, and what an earlier server recorded of them. */
export class RecordedCalls {
  readonly #running = new Set<string>();
  /** What no call was answered with yet, in the order of the log. */
  readonly #recorded: ItemData<"tool_exec">[] = [];
  /** Items of an earlier server whose calls may run again. */
  readonly #repeatable: InterruptedCall[] = [];

  /** Each call of the turn that has ended answers one more like it. */
  recall(turnId: string, history: readonly Item[]): void {
    for (const item of history) {
      if (item.turnId === turnId && item.type === "tool_exec" && item.data) this.#recorded.push(item.data);
    }
  }

  /** These calls run again, as the same items, when they are made again. */
  repeat(calls: readonly InterruptedCall[]): void {
    this.#repeatable.push(...calls);
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
   * The recorded outcome of the request, or else what `call` makes of it. Throws `call_running`.
   *
   * @param prepare the input as it would be recorded
   */
  async run(
    request: ToolRequest,
    prepare: () => Promise<JsonObject>,
    call: () => Promise<ToolOutcome>,
  ): Promise<ToolOutcome> {
    const { callId } = request;
    if (callId === undefined) return call();
    if (this.#running.has(callId)) throw callRunning(callId);
    this.#running.add(callId);
    try {
      return (await this.#take(request, prepare)) ?? (await call());
    } finally {
      this.#running.delete(callId);
    }
  }

  async #take(
    { callId, tool, input, step }: ToolRequest,
    prepare: () => Promise<JsonObject>,
  ): Promise<ToolOutcome | undefined> {
    // Models repeat their ids from step to step.
    const candidates = this.#recorded.filter(
      (data) => data.callId === callId && data.tool === tool && data.step === step,
    );
    if (candidates.length === 0) return undefined;
    // What ran already can often not be prepared again (an edit finds its text no more): preparing has only added to the input.
    const prepared = await prepare().catch(() => undefined);
    const found = candidates.find((data) => {
      const requested = requestedIn(data);
      return isSameInput(prepared ?? { ...requested, ...toJsonObject(input) }, requested);
    });
    if (!found) return undefined;
    this.#recorded.splice(this.#recorded.indexOf(found), 1);
    return outcomeOf(found);
  }
}
