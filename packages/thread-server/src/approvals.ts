import type { ApprovalDecision } from "@harnesskit/protocol/threads";
import { createDeferred, type Deferred } from "@harnesskit/wire";
import { approvalNotFound } from "./errors.ts";

/** The answer to an approval. */
export interface ApprovalAnswer {
  readonly decision: ApprovalDecision;
  /** Who gave it. */
  readonly resolvedBy: string;
}

interface Waiting {
  /** Who has answered, while the answer is being stored. */
  answeredBy?: string;
  readonly answer: Deferred<ApprovalAnswer>;
  readonly record: (answer: ApprovalAnswer, onWritten: () => void) => Promise<void>;
}

/** How many answered approvals are remembered, to tell a late answer from a made-up one. */
const maxRemembered = 10_000;

/** The approvals that wait for a human, over all threads of a server. */
export class Approvals {
  readonly #waiting = new Map<string, Waiting>();
  readonly #resolved = new Map<string, string>();

  /**
   * Waits for the answer to `requestId`. `record` writes it down before anything follows from it. Rejects with the
   * signal's reason when nobody needs it any more.
   */
  wait(requestId: string, record: Waiting["record"], signal: AbortSignal): Promise<ApprovalAnswer> {
    const answer = createDeferred<ApprovalAnswer>();
    const onAbort = () => {
      if (this.#waiting.delete(requestId)) this.#remember(requestId, "server");
      answer.reject(signal.reason);
    };
    if (signal.aborted) {
      onAbort();
      return answer.promise;
    }
    this.#waiting.set(requestId, { answer, record });
    signal.addEventListener("abort", onAbort, { once: true });
    const settled = answer.promise.finally(() => signal.removeEventListener("abort", onAbort));
    settled.catch(() => {});
    return settled;
  }

  /** Gives the answer. The first one counts; any other is -32004 with the reason. `onWritten` runs once it is stored. */
  async respond(requestId: string, given: ApprovalAnswer, onWritten: () => void): Promise<void> {
    const waiting = this.#waiting.get(requestId);
    const resolvedBy = waiting ? waiting.answeredBy : this.#resolved.get(requestId);
    if (resolvedBy !== undefined) throw approvalNotFound({ reason: "already_resolved", resolvedBy });
    if (!waiting) throw approvalNotFound({ reason: "unknown" });
    waiting.answeredBy = given.resolvedBy;
    try {
      await waiting.record(given, onWritten);
    } catch (error) {
      // It was not stored, so it was not given: the question still stands.
      delete waiting.answeredBy;
      throw error;
    }
    this.#waiting.delete(requestId);
    this.#remember(requestId, given.resolvedBy);
    waiting.answer.resolve(given);
  }

  #remember(requestId: string, resolvedBy: string): void {
    this.#resolved.set(requestId, resolvedBy);
    if (this.#resolved.size <= maxRemembered) return;
    for (const oldest of this.#resolved.keys()) {
      this.#resolved.delete(oldest);
      break;
    }
  }
}
