import type { Item } from "@harnesskit/protocol/threads";
import { type MediaPlace, toModelOutput } from "@harnesskit/wire/model";
import { makeSideBySide } from "@harnesskit/wire/tool";
import type { FilePart, ModelMessage, ToolResultPart } from "ai";
import { toJsonObject } from "../recorded-calls.ts";
import { shownOf } from "../tool-call.ts";
import type { ToolOutcome, ToolRequest, TurnContext } from "../turn-runner.ts";
import { toToolResult, withReference } from "./model-messages.ts";

/** The calls of a step, each with its place and an id of its own: models repeat them. */
export const withOwnIds = (calls: readonly ToolRequest[]): readonly ToolRequest[] => {
  const used = new Set<string>();
  return calls.map((call, index) => {
    const { callId = "call" } = call;
    let own = callId;
    for (let count = 2; used.has(own); count++) own = `${callId}#${count}`;
    used.add(own);
    return { ...call, callId: own, index: calls.length > 1 ? index : undefined };
  });
};

/** Makes the calls of a step. All are judged and asked about at once, so that their questions reach the human together. */
const makeCalls = (turn: TurnContext, calls: readonly ToolRequest[]): Promise<ToolOutcome[]> => {
  const reads = new Set(turn.tools.flatMap(({ name, effects }) => (effects === "read" ? [name] : [])));
  return makeSideBySide(
    calls,
    ({ tool }) => reads.has(tool),
    (call, after) => turn.callTool({ ...call, after }),
  );
};

/** Makes the calls of a step, and gives what the model is to see of them. `own` are the same calls with ids of their own. */
export const runCalls = async (
  turn: TurnContext,
  calls: readonly ToolRequest[],
  own: readonly ToolRequest[],
  place: MediaPlace | undefined,
): Promise<ModelMessage[]> => {
  turn.signal.throwIfAborted();
  const outcomes = await makeCalls(turn, own);
  const media: FilePart[] = [];
  const results = outcomes.map((outcome, index): ToolResultPart => {
    media.push(...(toModelOutput(outcome.modelOutput, place)?.message ?? []));
    const { callId = "", tool } = calls[index] as ToolRequest;
    const reference = turn.outputReference(own[index] as ToolRequest);
    return withReference(toToolResult(callId, tool, outcome, place), reference);
  });
  const shown: ModelMessage[] = media.length === 0 ? [] : [{ role: "user", content: media }];
  return [{ role: "tool", content: results }, ...shown];
};

/** The step of a turn's item that came from a call. */
const calledIn = (item: Item, turnId: string) =>
  item.turnId === turnId && item.type === "tool_exec" ? item.data : undefined;

/** The first step of a turn that is still to be made. */
export const firstStep = ({ turn, history, steps, isResumed }: TurnContext): number => {
  if (!isResumed) return 0;
  const called = history.flatMap((item) => calledIn(item, turn.turnId)?.step ?? []);
  return Math.max(-1, ...called, ...steps.map(({ step }) => step)) + 1;
};

/** The history of a turn that goes on, with the calls of its last step that were not made before its server ended. They are made now. */
export const finishedHistory = async (turn: TurnContext): Promise<readonly Item[]> => {
  const { history, steps, thread } = turn;
  const { turnId } = turn.turn;
  const last = steps.at(-1);
  if (!last) return history;
  const known = new Set(
    history.flatMap((item) => {
      const called = calledIn(item, turnId);
      return called?.step === last.step ? (called.callId ?? []) : [];
    }),
  );
  const rest = last.calls.filter(({ callId }) => callId === undefined || !known.has(callId));
  const outcomes = await makeCalls(turn, rest);
  const items = rest.map((call, index): Item => {
    const { modelOutput: _shown, ...outcome } = outcomes[index] as ToolOutcome;
    const shown = shownOf({ ...call, step: last.step }, toJsonObject(call.input));
    const itemId = call.callId ?? `${turnId}_${index}`;
    return { itemId, threadId: thread.threadId, turnId, type: "tool_exec", data: { ...shown, ...outcome } };
  });
  return [...history, ...items];
};
