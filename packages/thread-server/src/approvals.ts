import {
  type ApprovalDecision,
  type ApprovalMetadata,
  type Grant,
  type GrantScope,
  isPreviewCut,
} from "@harnesskit/protocol/threads";
import { type CreateId, createDeferred, type Deferred, invalidParams, sharedSignal } from "@harnesskit/wire";
import { defined } from "@harnesskit/wire/json";
import { approvalNotFound, requestConflict } from "./errors.ts";
import type { ThreadState } from "./thread-state.ts";

/** Why the server settled an approval itself. */
export type SettledReason = "expired" | "unattended" | "changed";

/** A client's answer. */
interface ClientAnswer {
  readonly decision: ApprovalDecision;
  /** With `reject`: the client could ask no user. */
  readonly reason?: "unattended";
  /** With `reject`: the user's reason. */
  readonly note?: string;
  /** The client that gave it. */
  readonly resolvedBy: string;
  /** With `always`. */
  readonly scope?: GrantScope;
  /** With `always`. */
  readonly match?: Grant["match"];
  readonly clientRequestId?: string;
}

/** How an approval ended: with a client's answer, or for a reason of the server's. */
export type ApprovalAnswer =
  | ClientAnswer
  | {
      readonly decision?: never;
      readonly note?: never;
      readonly reason: SettledReason;
      readonly resolvedBy: "server";
    };

export const isAllowed = ({ decision }: { readonly decision?: ApprovalDecision | undefined }): boolean =>
  decision === "once" || decision === "always";

/** A question as it waits. */
export interface WaitingQuestion {
  readonly requestId: string;
  readonly metadata: ApprovalMetadata;
  /** Stores the answer before anything follows from it. */
  record(answer: ApprovalAnswer): Promise<void>;
  /** Makes sure that what would run is still what was shown. Resolves with false when it is not. */
  verify(): Promise<boolean>;
}

interface Waiting extends WaitingQuestion {
  readonly answer: Deferred<ApprovalAnswer>;
  /** The answer that is being stored, and what is stored in the end. */
  storing?: { readonly answer: ApprovalAnswer; readonly stored: Promise<ApprovalAnswer> };
}

/** The approvals of one thread that wait for a human. Each is answered once, however many answer. */
export class Approvals {
  readonly #waiting = new Map<string, Waiting>();

  constructor(readonly state: ThreadState) {}

  /** What a question asks that waits. */
  metadata(requestId: string): ApprovalMetadata | undefined {
    return this.#waiting.get(requestId)?.metadata;
  }

  /** Waits for the answer. Rejects with the signal's reason when it is no longer needed. */
  wait(question: WaitingQuestion, signal: AbortSignal): Promise<ApprovalAnswer> {
    const answer = createDeferred<ApprovalAnswer>();
    const onAbort = () => {
      this.#waiting.delete(question.requestId);
      answer.reject(signal.reason);
    };
    if (signal.aborted) onAbort();
    else {
      this.#waiting.set(question.requestId, { ...question, answer });
      sharedSignal(signal).addEventListener("abort", onAbort, { once: true });
    }
    const settled = answer.promise.finally(() => signal.removeEventListener("abort", onAbort));
    settled.catch(() => {});
    return settled;
  }

  /**
   * Gives a client's answer, and settles when it is stored. The first one counts. The same `clientRequestId` with the
   * same answer is answered the same again; anything else is -32004 with the reason, or -32005. `always` for a preview
   * that was cut is -32602.
   */
  async respond(requestId: string, answer: ClientAnswer, digest: string | undefined): Promise<void> {
    const waiting = this.#waiting.get(requestId);
    const earlier = waiting?.storing?.answer ?? this.state.resolvedApproval(requestId);
    if (earlier) {
      const { resolvedBy, decision } = earlier;
      if (!isRepeat(earlier, answer))
        throw approvalNotFound({ reason: "already_resolved", ...defined({ resolvedBy, decision }) });
      await waiting?.storing?.stored;
      return;
    }
    if (!waiting) throw approvalNotFound({ reason: "unknown" });
    const { metadata } = waiting;
    if (digest !== undefined && digest !== metadata.digest)
      throw approvalNotFound({ reason: "digest_mismatch", digest: metadata.digest });
    if (answer.decision === "always" && isPreviewCut(metadata.preview)) {
      throw invalidParams("The preview was cut: this can be allowed once, not for always", {
        reason: "preview_cut",
      });
    }
    const stored = await this.#store(waiting, answer);
    if (stored !== answer) throw approvalNotFound({ reason: "changed" });
  }

  /** Settles a question without a human. One that is being answered, or was, stays as it is. */
  async settle(requestId: string, reason: SettledReason): Promise<void> {
    const waiting = this.#waiting.get(requestId);
    if (waiting && !waiting.storing) await this.#store(waiting, { reason, resolvedBy: "server" });
  }

  /** Stores the answer and hands it over. What is stored is `changed` where the action is no longer what was shown. */
  async #store(waiting: Waiting, answer: ApprovalAnswer): Promise<ApprovalAnswer> {
    const store = async (): Promise<ApprovalAnswer> => {
      const isChanged = isAllowed(answer) && !(await waiting.verify());
      const stored: ApprovalAnswer = isChanged ? { reason: "changed", resolvedBy: "server" } : answer;
      await waiting.record(stored);
      this.#waiting.delete(waiting.requestId);
      waiting.answer.resolve(stored);
      return stored;
    };
    waiting.storing = { answer, stored: store() };
    try {
      return await waiting.storing.stored;
    } catch (error) {
      // It was not stored, so it was not given: the question still stands.
      delete waiting.storing;
      throw error;
    }
  }
}

/** True for an answer that was given before under the same id. Throws -32005 for another one under that id. */
const isRepeat = (
  earlier: {
    readonly decision?: ApprovalDecision;
    readonly scope?: string;
    readonly match?: string | undefined;
    readonly clientRequestId?: string;
  },
  { decision, scope, match, clientRequestId }: ClientAnswer,
): boolean => {
  if (clientRequestId === undefined || earlier.clientRequestId !== clientRequestId) return false;
  if (earlier.decision !== decision || earlier.scope !== scope || earlier.match !== match)
    throw requestConflict();
  return true;
};

/** Creates the id of an approval. It names its thread, so that a later server finds the question by its id alone. */
export const newRequestId = (threadId: string, createId: CreateId): string =>
  createId(`apr_${threadId.slice(threadId.indexOf("_") + 1)}`);

/** The thread that an approval's id names; undefined for an id that no server created. */
export const threadOfRequest = (requestId: string): string | undefined => {
  const [, thread] = /^apr_([A-Za-z0-9]{1,64})_[A-Za-z0-9]{1,64}$/.exec(requestId) ?? [];
  return thread && `ses_${thread}`;
};
