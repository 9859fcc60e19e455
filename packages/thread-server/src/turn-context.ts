import type { Item } from "@harnesskit/protocol/threads";
import { defined } from "@harnesskit/wire/json";
import type { Tool } from "@harnesskit/wire/tool";
import { KeptText } from "./kept-text.ts";
import { PromptAdmission } from "./prompt-admission.ts";
import type { ThreadState } from "./thread-state.ts";
import type { Turn } from "./turn.ts";
import type { MessageWriter, RecordedStep, TurnContext, TurnRequest } from "./turn-runner.ts";

/** What the runner may have and do in a turn. `request` is what the gate and the user allowed of the prompt. */
export const toTurnContext = (turn: Turn, request: TurnRequest, tools: readonly Tool[]): TurnContext => {
  const { session, data, turnId, isResumed, signal, calls, log } = turn;
  const { history, steps } = session.state;
  const prompt = new PromptAdmission(turn, request);
  const asked = history.findLast((item) => item.type === "user_message" && item.turnId === turnId);
  return {
    ...request,
    thread: session.stored,
    turn: data,
    isResumed,
    signal,
    tools,
    history: history.filter(isGiven),
    steps: isResumed ? steps.map(toRecordedStep) : [],
    recordStep: (step) => log.recordStep(step),
    repeatStep: (step) => log.repeatStep(step),
    message: (options = {}) => writeMessage(turn, options),
    judgeRequest: (further) => prompt.judgeRequest(asked?.itemId ?? turnId, further),
    callTool: (call) => calls.call(call),
    artifact: async (artifact) => {
      await log.artifact(artifact);
    },
    addUsage: (usage) => turn.addUsage(usage),
    recordSummary: (text, summary) => log.summary(text, summary),
    outputReader: calls.outputReader,
    outputReference: ({ callId, step }) =>
      session.state.history.findLast(
        (item) =>
          item.turnId === turnId &&
          item.type === "tool_exec" &&
          item.data?.callId === callId &&
          item.data?.step === step,
      )?.itemId,
  };
};

const toRecordedStep = ({ step, calls, usage }: ThreadState["steps"][number]): RecordedStep => ({
  step,
  calls: calls.map((call) => defined({ ...call, step })),
  usage,
});

/** A prompt that was not allowed stays in the log, and out of the history of later turns. */
const isGiven = (item: Item): boolean =>
  item.type !== "user_message" || !(item.data?.withheld || item.data?.compact);

const writeMessage = (
  turn: Turn,
  options: { reasoning?: true | undefined; step?: number | undefined },
): MessageWriter => {
  const { log, settings, observed } = turn;
  const itemId = turn.settings.createId("item");
  const kept = new KeptText(turn, {
    maxLength: settings.limits.maxMessageLength,
    name: `${itemId}-message.txt`,
    artifact: { kind: "message", mimeType: "text/plain" },
  });
  // A turn that has ended refuses this too; the writer learns of it from `complete`.
  log.start("assistant_message", itemId, { text: "", ...options }).catch(() => {});
  return {
    append(text) {
      const delta = kept.add(text);
      if (delta !== "") log.delta("assistant_message", itemId, delta);
    },
    complete: async (providerMetadata) => {
      const cut = kept.isCut ? await kept.end() : {};
      const { text } = kept;
      await log.complete("assistant_message", itemId, { text, ...options, ...cut, providerMetadata });
      const { reasoning, ...step } = options;
      if (!reasoning) settings.observe("responded", observed, { text, ...step });
    },
  };
};
