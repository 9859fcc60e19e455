import type { ApprovalDecision, ApprovalMetadata, GrantScope } from "@harnesskit/protocol/threads";
import { createDeferred, type Deferred, invalidParams } from "@harnesskit/wire";
import { approvalNotFound, requestConflict } from "./errors.ts";
import { isPreviewCut } from "./preview-cut.ts";
import type { ThreadState } from "./thread-state.ts";

/** Why the server settled an approval itself. */
export type SettledReason = "expired" | "unattended" | "changed";

/** How an approval ended: with a human's decision, or for a reason of the server's. */
export type ApprovalAnswer =
  | {
      readonly decision: ApprovalDecision;
      /** With `reject`: the client could ask no user. */
      readonly reason?: "unattended";
      /** Who gave it. */
      readonly resolvedBy: string;
      /** With `always`. */
      readonly scope?: GrantScope;
      readonly clientRequestId?: string;
    }
  | { readonly decision?: never; readonly reason: SettledReason; readonly resolvedBy: "server" };

/** A question as it waits. */
export interface Question {
  readonly requestId: string;
  readonly metadata: ApprovalMetadata;
  /** Writes the answer down before anything follows from it; `onWritten` runs before anybody is told. */
  record(answer: ApprovalAnswer, onWritten: () => void): Promise<void>;
  /** Makes sure that what would run is still what was shown. Resolves with false when it is not. */
  verify(): Promise<boolean>;
}

export interface Response {
  readonly requestId: string;
  readonly decision: ApprovalDecision;
  readonly reason?: "unattended";
  readonly resolvedBy: string;
  readonly scope?: GrantScope;
  readonly digest?: string;
  readonly clientRequestId?: string;
}

interface Waiting extends Question {
  readonly answer: Deferred<ApprovalAnswer>;
  /** The answer that is being stored. */
  storing?: { readonly answer: ApprovalAnswer; readonly done: Promise<void> };
}

/** The approvals of one thread that wait for a human. Each is answered once, however many answer. */
export class Approvals {
  readonly #waiting = new Map<string, Waiting>();

  constructor(readonly state: ThreadState) {}

  /** The questions that wait. */
  get questions(): Question[] {
    return [...this.#waiting.values()];
  }

  /** What a question asks that waits. */
  metadata(requestId: string): ApprovalMetadata | undefined {
    return this.#waiting.get(requestId)?.metadata;
  }

  /** Waits for the answer. Rejects with the signal's reason when nobody needs it any more. */
  wait(question: Question, signal: AbortSignal): Promise<ApprovalAnswer> {
    const answer = createDeferred<ApprovalAnswer>();
    const { requestId } = question;
    const onAbort = () => {
      this.#waiting.delete(requestId);
      answer.reject(signal.reason);
    };
    if (signal.aborted) onAbort();
    else {
      this.#waiting.set(requestId, { ...question, answer });
      signal.addEventListener("abort", onAbort, { once: true });
    }
    const settled = answer.promise.finally(() => signal.removeEventListener("abort", onAbort));
    settled.catch(() => {});
    return settled;
  }

  /**
   * Gives a human's answer. The first one counts; `onWritten` runs once it is stored. The same `clientRequestId` with the
   * same answer is answered the same again; anything else is -32004 with the reason, or -32005. `always` for a preview
   * that was cut is -32602.
   */
  async respond(response: Response, onWritten: () => void): Promise<void> {
    const { requestId, decision, reason, resolvedBy, scope, clientRequestId } = response;
    const waiting = this.#waiting.get(requestId);
    const earlier = waiting?.storing?.answer ?? this.state.resolvedApproval(requestId);
    if (earlier) {
      if (!isRepeat(earlier, response))
        throw approvalNotFound({ reason: "already_resolved", ...who(earlier) });
      await waiting?.storing?.done;
      onWritten();
      return;
    }
    if (!waiting) throw approvalNotFound({ reason: "unknown" });
    if (response.digest !== undefined && response.digest !== waiting.metadata.digest) {
      throw approvalNotFound({ reason: "digest_mismatch", digest: waiting.metadata.digest });
    }
    if (decision === "always" && isPreviewCut(waiting.metadata.preview)) {
      throw invalidParams("The preview was cut: this can be allowed once, not for always", {
        reason: "preview_cut",
      });
    }
    const answer: ApprovalAnswer = {
      decision,
      resolvedBy,
      ...(reason !== undefined && { reason }),
      ...(scope !== undefined && { scope }),
      ...(clientRequestId !== undefined && { clientRequestId }),
    };
    const changed = await this.#store(waiting, answer, onWritten);
    if (changed) throw approvalNotFound({ reason: "changed" });
  }

  /** Settles a question without a human. One that is being answered, or was, stays as it is. */
  async settle(requestId: string, reason: SettledReason): Promise<void> {
    const waiting = this.#waiting.get(requestId);
    if (!waiting || waiting.storing) return;
    await this.#store(waiting, { reason, resolvedBy: "server" }, () => {});
  }

  /** Stores the answer and hands it over. True when the action had changed: then that is what was stored. */
  async #store(waiting: Waiting, answer: ApprovalAnswer, onWritten: () => void): Promise<boolean> {
    let changed = false;
    const store = async () => {
      const allows = answer.decision === "once" || answer.decision === "always";
      changed = allows && !(await waiting.verify());
      const stored: ApprovalAnswer = changed ? { reason: "changed", resolvedBy: "server" } : answer;
      await waiting.record(stored, changed ? () => {} : onWritten);
      this.#waiting.delete(waiting.requestId);
      waiting.answer.resolve(stored);
    };
    const done = store();
    waiting.storing = { answer, done };
    try {
      await done;
    } catch (error) {
      // It was not stored, so it was not given: the question still stands.
      delete waiting.storing;
      throw error;
    }
    return changed;
  }
}

interface Earlier {
  readonly resolvedBy: string;
  readonly decision?: ApprovalDecision;
  readonly scope?: string;
  readonly clientRequestId?: string;
}

/** True for an answer that was given before under the same id. Throws -32005 for another one under that id. */
const isRepeat = (earlier: Earlier, { decision, scope, clientRequestId }: Response): boolean => {
  if (clientRequestId === undefined || earlier.clientRequestId !== clientRequestId) return false;
  if (earlier.decision !== decision || earlier.scope !== scope) throw requestConflict();
  return true;
};

const who = ({ resolvedBy, decision }: Earlier) =>
  decision === undefined ? { resolvedBy } : { resolvedBy, decision };
