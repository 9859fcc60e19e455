import { createHash, randomUUID } from "node:crypto";
import type { Request } from "./reference-harness.ts";

/** A turn that runs, or waits for the answer to a question. */
export interface Live {
  turnId: string;
  thread: Request;
  steps: Request[];
  turn: Request;
  requestId?: string;
  answer?: (decision: string) => void;
  cancel: () => void;
  isCancelled: boolean;
}

interface Parts {
  readonly skips: (rule: string) => boolean;
  readonly log: (threadId: string, type: string, params: Request) => void;
  readonly live: Map<string, Live>;
  /** The questions that were answered. */
  readonly resolved: Set<string>;
  /** The commands that a thread may always run. */
  readonly alwaysOf: (threadId: string) => Set<string> | undefined;
  /** Called when a turn is over. */
  readonly onEnd: (threadId: string) => void;
}

/** The turns of the reference thread server: the test agent, its items, its questions. */
export const createTurns = ({ skips, log, live, resolved, alwaysOf, onEnd }: Parts) => {
  const begin = (live_: Live, from: number): void => {
    live.set(live_.thread.threadId, live_);
    void runTurn(live_, from);
  };
  const item = (turn: Live, type: string, data: Request, delta?: string): void => {
    const ids = { threadId: turn.thread.threadId, turnId: turn.turnId, itemId: randomUUID(), type };
    const whole = { itemId: ids.itemId, threadId: ids.threadId, turnId: ids.turnId, type };
    log(ids.threadId, "item.started", { ...ids, item: { ...whole, data: {} } });
    if (delta !== undefined) log(ids.threadId, "item.delta", { ...ids, delta });
    log(ids.threadId, "item.completed", { ...ids, item: { ...whole, data } });
  };
  const end = (turn: Live, status: string): void => {
    const { threadId } = turn.thread;
    live.delete(threadId);
    const ended = { ...turn.turn, status, time: { ...turn.turn.time, completed: Date.now() } };
    const base = { threadId, turnId: turn.turnId, turn: ended };
    if (status === "error")
      log(threadId, "turn.error", {
        ...base,
        error: skips("safe-errors") ? "the words of the agent" : "it failed",
        code: "failed",
      });
    else log(threadId, "turn.completed", { ...base, status });
    if (skips("one-end")) log(threadId, "turn.completed", { ...base, status });
    onEnd(threadId);
  };
  const ask = async (turn: Live, command: string): Promise<string> => {
    const requestId = `apr-${randomUUID()}`;
    const input = { command };
    const metadata = {
      tool: "bash",
      input,
      preview: "",
      digest: `sha256:${createHash("sha256").update(command).digest("hex")}`,
    };
    const params = {
      threadId: turn.thread.threadId,
      turnId: turn.turnId,
      itemId: randomUUID(),
      requestId,
      permission: "bash",
      metadata,
    };
    turn.requestId = requestId;
    log(turn.thread.threadId, "approval.requested", params);
    const decision = await new Promise<string>((resolve) => {
      turn.answer = resolve;
    });
    delete turn.requestId;
    resolved.add(requestId);
    log(turn.thread.threadId, "approval.resolved", { threadId: turn.thread.threadId, requestId, decision });
    item(turn, "approval", { requestId, permission: "bash", metadata, decision, resolvedBy: "client" });
    return decision;
  };
  const call = async (turn: Live, command: string): Promise<void> => {
    const always = alwaysOf(turn.thread.threadId);
    const isGranted = always?.has(skips("exact-grants") ? "any" : command) === true;
    const decision = isGranted || skips("approvals") ? "once" : await ask(turn, command);
    if (turn.isCancelled) return;
    if (decision === "always" && !skips("grants")) always?.add(skips("exact-grants") ? "any" : command);
    if (decision === "once" && skips("asks-again")) always?.add(command);
    const data = { tool: "bash", input: { command } };
    if (decision === "reject" && !skips("rejections"))
      return item(turn, "tool_exec", { ...data, status: "rejected", error: "no" });
    item(turn, "tool_log", { toolItemId: "x", stream: "stdout", text: `${command}\n` });
    item(turn, "tool_exec", { ...data, status: "succeeded", output: {} });
  };
  const runTurn = async (turn: Live, from: number): Promise<void> => {
    const { providerID, modelID } = turn.turn.model ?? {};
    for (const step of turn.steps.slice(from)) {
      if (turn.isCancelled) break;
      if (step.say !== undefined) item(turn, "assistant_message", { text: step.say }, step.say);
      if (step.think !== undefined)
        item(turn, "assistant_message", { text: step.think, reasoning: true }, step.think);
      if (step.who === true)
        item(turn, "assistant_message", { text: `${providerID}/${modelID} ${turn.turn.agent}` });
      if (step.artifact !== undefined)
        item(turn, "artifact", { kind: "file", path: "p", mimeType: "text/plain", sizeBytes: 1 });
      if (step.run !== undefined) await call(turn, step.run);
      if (step.fail !== undefined) return end(turn, "error");
      if (step.wait === true && !turn.isCancelled)
        await new Promise<void>((resolve) => {
          turn.cancel = resolve;
        });
    }
    end(turn, turn.isCancelled && !skips("cancelled-status") ? "cancelled" : "completed");
  };

  return { begin, item, end };
};
