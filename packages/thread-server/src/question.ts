import { type Grant, isPreviewCut } from "@harnesskit/protocol/threads";
import { type CreateId, createDeferred, invalidParams, sharedSignal } from "@harnesskit/wire";
import { defined } from "@harnesskit/wire/json";
import { wellFormed } from "@harnesskit/wire/replay";
import { activeTrace, approvalSpan, readTraceContext, startSpan } from "@harnesskit/wire/trace";
import {
  type ApprovalAnswer,
  type AskedAction,
  type ClientAnswer,
  isAllowed,
  type QuestionItem,
  sealedAnswer,
} from "./approval-answer.ts";
import { approvalResolved } from "./close-open-items.ts";
import { approvalNotFound, requestConflict } from "./errors.ts";
import { grantedBy } from "./find-grant.ts";
import type { ThreadSession } from "./thread-session.ts";
import type { ResolvedApproval } from "./thread-state.ts";
import type { Turn } from "./turn.ts";

const changed: ApprovalAnswer = { reason: "changed", resolvedBy: "server" };

/** Asks a human and waits for the answer. Rejects when the turn's signal aborts. */
export const ask = async (
  turn: Turn,
  { permission, input, preview, digest, toolItemId }: AskedAction,
  reason: string | undefined,
): Promise<{ readonly requestId: string; readonly answer: ApprovalAnswer }> => {
  const { approvalTimeoutMs, clock, createId } = turn.settings;
  const requestId = newRequestId(turn.threadId, createId);
  const askedAt = clock.now();
  const expiresAt = approvalTimeoutMs === undefined ? undefined : askedAt + approvalTimeoutMs;
  const why = reason === undefined ? undefined : wellFormed(reason);
  const metadata = defined({ tool: permission, input, digest, preview, reason: why, expiresAt });
  const item = {
    itemId: turn.settings.createId("item"),
    data: defined({ requestId, permission, metadata, toolItemId }),
    askedAt,
  };
  // The very object that was shown is what runs: nothing can have changed.
  const question = new Question(turn, item, async () => true);
  await Promise.all([turn.log.start("approval", item.itemId, item.data), question.notify()]);
  return { requestId, answer: await question.wait() };
};

/** Waits on for a question of an earlier server, unless it was answered; `verify` says whether what would run is still what was shown. */
export const askAgain = async (
  turn: Turn,
  pending: QuestionItem,
  verify: () => Promise<boolean>,
): Promise<ApprovalAnswer> => {
  if (pending.answer) return (await verify()) ? pending.answer : changed;
  const question = new Question(turn, pending, verify);
  if (pending.askedAt === undefined) await question.notify();
  return question.wait();
};

/** A question that waits for a human, from its constructor on. It is answered once, however many answer, and the answer is stored before it counts. */
export class Question {
  readonly #turn: Turn;
  readonly #item: QuestionItem;
  readonly #verify: () => Promise<boolean>;
  readonly #answer = createDeferred<ApprovalAnswer>();
  /** The answer that is being stored, and what is stored in the end. */
  #storing: { readonly answer: ApprovalAnswer; readonly stored: Promise<ApprovalAnswer> } | undefined;

  constructor(turn: Turn, item: QuestionItem, verify: () => Promise<boolean>) {
    this.#turn = turn;
    this.#item = item;
    this.#verify = verify;
    turn.session.questions.set(item.data.requestId, this);
    if (turn.signal.aborted) this.#giveUp();
    else sharedSignal(turn.signal).addEventListener("abort", this.#giveUp, { once: true });
  }

  /** What humans are shown. */
  get metadata() {
    return this.#item.data.metadata;
  }

  /** The answer that is being stored. */
  get storing() {
    return this.#storing;
  }

  /** Notifies clients of it. Settles when that is stored. */
  notify(): Promise<void> {
    const { itemId, data } = this.#item;
    const { requestId, permission, metadata } = data;
    const { threadId, turnId, log } = this.#turn;
    const ids = { threadId, turnId, itemId };
    return log.append({ type: "approval.requested", data: { ...ids, requestId, permission, metadata } });
  }

  /** Waits for the answer until the question expires, or no client was there for as long as the policy allows. */
  async wait(): Promise<ApprovalAnswer> {
    const { threadId, session, settings, signal } = this.#turn;
    const { clock, unattended } = settings;
    const { expiresAt } = this.#item.data.metadata;
    const undo = [() => signal.removeEventListener("abort", this.#giveUp)];
    if (expiresAt !== undefined) undo.push(this.#settleAfter(expiresAt - clock.now(), "expired"));
    if (unattended !== "wait") {
      const waitMs = unattended === "deny" ? 0 : unattended.timeoutMs;
      let cancel = () => {};
      const look = () => {
        cancel();
        const isAttended = session.connections.isAttended(threadId);
        cancel = isAttended ? () => {} : this.#settleAfter(waitMs, "unattended");
      };
      undo.push(session.connections.onChange(look), () => cancel());
      look();
    }
    try {
      return await this.#turn.waiting(this.#answer.promise);
    } finally {
      for (const end of undo) end();
    }
  }

  /** Gives a client's answer, and settles when it is stored. Rejects with -32004 for another digest, and -32602 for `always` where it cannot be given. */
  async respond(answer: ClientAnswer, digest: string | undefined): Promise<void> {
    const { metadata } = this.#item.data;
    if (digest !== undefined && digest !== metadata.digest)
      throw approvalNotFound({ reason: "digest_mismatch", digest: metadata.digest });
    if (answer.decision === "always" && isPreviewCut(metadata.preview)) {
      throw invalidParams("The preview was cut: this can be allowed once, not for always", {
        reason: "preview_cut",
      });
    }
    if ((await this.#store(answer)) !== answer) throw approvalNotFound({ reason: "changed" });
  }

  /** Settles it without a human. One that is being answered, or was, stays as it is. */
  #settleAfter(ms: number, reason: "expired" | "unattended"): () => void {
    const { settings, onError } = this.#turn;
    const settle = () => {
      const isWaiting = this.#turn.session.questions.get(this.#item.data.requestId) === this;
      if (isWaiting && !this.#storing) void this.#store({ reason, resolvedBy: "server" }).catch(onError);
    };
    if (ms > 0) return settings.clock.after(ms, settle);
    settle();
    return () => {};
  }

  /** Stores the answer and hands it over. What is stored is `changed` where the action is no longer what was shown. */
  async #store(answer: ApprovalAnswer): Promise<ApprovalAnswer> {
    const store = async (): Promise<ApprovalAnswer> => {
      const stored = isAllowed(answer) && !(await this.#verify()) ? changed : answer;
      await this.#record(stored);
      this.#turn.session.questions.delete(this.#item.data.requestId);
      this.#answer.resolve(stored);
      return stored;
    };
    this.#storing = { answer, stored: store() };
    try {
      return await this.#storing.stored;
    } catch (error) {
      // It was not stored, so it was not given: the question still stands.
      this.#storing = undefined;
      throw error;
    }
  }

  async #record(answer: ApprovalAnswer): Promise<void> {
    const { itemId, data } = this.#item;
    const { threadId, turnId, log, settings, onError } = this.#turn;
    const { store } = settings;
    const grant = await this.#toGrant(answer);
    if (grant) await store.addGrant(grant);
    try {
      const answered = { ...data, ...answer };
      const approval = { type: "approval" as const, threadId, turnId, itemId, data: answered };
      // An answer without a seal counts for this server: a later one asks again.
      const sealed = await sealedAnswer(approval, store.answerSeal).catch((error: unknown) => {
        onError(error);
        return answered;
      });
      await Promise.all([
        log.complete("approval", itemId, sealed),
        log.append(approvalResolved(threadId, turnId, itemId, data, answer)),
      ]);
    } catch (error) {
      if (grant) await store.removeGrant(grant.grantId);
      throw error;
    }
    this.#trace(answer);
  }

  /** The approval as a span from its question to its answer, whichever servers and clients were there meanwhile. */
  #trace({ decision, reason = "expired" }: ApprovalAnswer): void {
    const { threadId: conversationId, data: begun, settings } = this.#turn;
    const { data, askedAt } = this.#item;
    const { requestId: approvalId, permission: tool, metadata } = data;
    const now = settings.clock.now();
    const given = decision === "reject" ? "rejected" : "approved";
    const span = startSpan(() =>
      approvalSpan({
        ...{ tool, approvalId, conversationId, input: metadata.input },
        answer: decision === undefined ? reason : given,
        parent: readTraceContext(begun._meta),
        links: decision === undefined ? [] : [activeTrace()],
        startedAtMs: askedAt ?? now,
      }),
    );
    span?.end(undefined, now);
  }

  /** What an `always` answer allows from now on. */
  async #toGrant(answer: ApprovalAnswer): Promise<Grant | undefined> {
    if (answer.decision !== "always") return undefined;
    const { settings, observed } = this.#turn;
    const { requestId, metadata } = this.#item.data;
    const { threadId, directory } = observed;
    const granted = await grantedBy(metadata, answer.match, settings.startOf);
    if (granted === undefined)
      throw invalidParams("Only exactly this call can be allowed for always", { field: "match" });
    const given = { scope: answer.scope ?? "thread", requestId, grantedBy: answer.resolvedBy };
    const ids = { grantId: settings.createId("grant"), threadId, directory, time: settings.clock.now() };
    return defined({ ...ids, ...granted, ...given });
  }

  readonly #giveUp = (): void => {
    const { session, signal } = this.#turn;
    session.questions.delete(this.#item.data.requestId);
    this.#answer.reject(signal.reason);
  };
}

/**
 * Gives a client's answer to a question of the thread, and settles when it is stored. The first one counts. The same
 * `clientRequestId` with the same answer is answered the same again; anything else is -32004 with the reason, or -32005. `always` for a
 * preview that was cut is -32602.
 */
export const answerQuestion = async (
  { questions, state }: ThreadSession,
  requestId: string,
  answer: ClientAnswer,
  digest: string | undefined,
): Promise<void> => {
  const question = questions.get(requestId);
  const storing = question?.storing;
  const earlier: ResolvedApproval | undefined = storing?.answer ?? state.resolvedApproval(requestId);
  if (!earlier) {
    if (!question) throw approvalNotFound({ reason: "unknown" });
    return question.respond(answer, digest);
  }
  const { decision, scope, match, clientRequestId, resolvedBy } = earlier;
  if (clientRequestId === undefined || clientRequestId !== answer.clientRequestId)
    throw approvalNotFound({ reason: "already_resolved", ...defined({ resolvedBy, decision }) });
  if (decision !== answer.decision || scope !== answer.scope || match !== answer.match)
    throw requestConflict();
  await storing?.stored;
};

/** Creates the id of an approval. It names its thread, so that a later server finds the question by its id alone. */
const newRequestId = (threadId: string, createId: CreateId): string =>
  createId(`apr_${threadId.slice(threadId.indexOf("_") + 1)}`);

/** The thread that an approval's id names; undefined for an id that no server created. */
export const threadOfRequest = (requestId: string): string | undefined => {
  const [, thread] = /^apr_([A-Za-z0-9]{1,64})_[A-Za-z0-9]{1,64}$/.exec(requestId) ?? [];
  return thread && `ses_${thread}`;
};
