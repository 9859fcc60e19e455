import { checkShape } from "./log.mjs";

const unfinished = new Set(["turn.started", "approval.requested"]);

/** What a client knows of its threads: from the logs as it begins, then from notifications. */
export class Known {
  /** The turn that is open, by thread. */
  open = new Map();
  /** The prompts that wait, by turn: their threads. */
  queued = new Map();
  ended = new Set();
  questions = new Map();

  begin(logs) {
    for (const known of [this.open, this.queued, this.questions]) known.clear();
    for (const [threadId, log] of logs) {
      const { open, queued, questions } = checkShape(threadId, log);
      if (open !== undefined) this.open.set(threadId, open);
      for (const turnId of queued) this.queued.set(turnId, threadId);
      for (const [requestId, data] of questions) this.questions.set(requestId, data);
    }
  }

  hear({ method, params }) {
    if (method === "turn.queued") this.queued.set(params.turnId, params.threadId);
    if (method === "turn.started" || method === "turn.dequeued") this.queued.delete(params.turnId);
    if (unfinished.has(method)) this.open.set(params.threadId, params.turnId);
    if (method === "turn.completed" || method === "turn.error") {
      this.ended.add(params.turnId);
      this.open.delete(params.threadId);
    }
    if (method === "approval.requested") this.questions.set(params.requestId, params);
    if (method === "approval.resolved") this.questions.delete(params.requestId);
  }

  questionOf(threadId) {
    return [...this.questions.values()].find((question) => question.threadId === threadId);
  }

  isBusy(threadId) {
    return this.open.has(threadId) || [...this.queued.values()].includes(threadId);
  }
}
