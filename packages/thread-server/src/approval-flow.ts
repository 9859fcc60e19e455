import type { ApprovalMetadata, EventBody, Grant, ItemData } from "@harnesskit/protocol/threads";
import { invalidParams } from "@harnesskit/wire";
import { defined } from "@harnesskit/wire/json";
import { activeTrace, approvalSpan, startSpan } from "@harnesskit/wire/trace";
import { sealedAnswer } from "./answer-seal.ts";
import { type ApprovalAnswer, newRequestId } from "./approvals.ts";
import { grantedBy } from "./find-grant.ts";
import type { Turn } from "./turn.ts";

/** What to do with a question while no client is there that could answer it. */
export type UnattendedPolicy =
  /** It waits, also over a restart. */
  | "wait"
  /** The call is refused at once. */
  | "deny"
  /** It is refused when no client has connected by then. */
  | { readonly timeoutMs: number };

/** The item of a question. */
interface QuestionItem {
  readonly itemId: string;
  readonly data: ItemData<"approval">;
  /** When it was asked, in milliseconds since the epoch; undefined where clients were not notified of it. */
  readonly askedAt: number | undefined;
}

/** A question of an earlier server that waits in the log. */
export interface PendingQuestion extends QuestionItem {
  /** Whether clients were notified of it. */
  readonly wasRequested: boolean;
  /** The answer, where one was given and nothing has followed from it. */
  readonly answer?: ApprovalAnswer;
}

/** What a human is asked about: a call, or a prompt. */
export interface Question {
  readonly permission: string;
  readonly input: ApprovalMetadata["input"];
  readonly preview?: string | undefined;
  readonly digest: string;
  /** The call's item. */
  readonly toolItemId?: string;
}

/** What the approval of a prompt says as its permission. */
export const promptPermission = "prompt";

/** Asks a human and writes question and answer down. */
export class ApprovalFlow {
  readonly #turn: Turn;

  constructor(turn: Turn) {
    this.#turn = turn;
  }

  /** Asks and waits for the answer. Rejects when the turn's signal aborts. */
  async ask(
    { permission, input, preview, digest, toolItemId }: Question,
    reason: string | undefined,
  ): Promise<{ readonly requestId: string; readonly answer: ApprovalAnswer }> {
    const turn = this.#turn;
    const { approvalTimeoutMs, clock, createId } = turn.settings;
    const requestId = newRequestId(turn.threadId, createId);
    const expiresAt = approvalTimeoutMs === undefined ? undefined : clock.now() + approvalTimeoutMs;
    const metadata = defined({ tool: permission, input, digest, preview, reason, expiresAt });
    const item = {
      itemId: turn.newId("item"),
      data: defined({ requestId, permission, metadata, toolItemId }),
      askedAt: clock.now(),
    };
    // The very object that was shown is what runs: nothing can have changed.
    const answer = this.#expect(item, async () => true);
    await Promise.all([
      turn.log.start("approval", item.itemId, item.data),
      turn.log.append(this.#requested(item)),
    ]);
    return { requestId, answer: await this.#wait(item, answer) };
  }

  /** Waits on for a question of an earlier server, unless it was answered; `verify` says whether what would run is still what was shown. */
  async askAgain(question: PendingQuestion, verify: () => Promise<boolean>): Promise<ApprovalAnswer> {
    if (question.answer)
      return (await verify()) ? question.answer : { reason: "changed", resolvedBy: "server" };
    const answer = this.#expect(question, verify);
    if (!question.wasRequested) await this.#turn.log.append(this.#requested(question));
    return this.#wait(question, answer);
  }

  /** From here on the question can be answered. */
  #expect(item: QuestionItem, verify: () => Promise<boolean>): Promise<ApprovalAnswer> {
    const { session, signal } = this.#turn;
    const { requestId, metadata } = item.data;
    const record = (answer: ApprovalAnswer) => this.#record(item, answer);
    return session.approvals.wait({ requestId, metadata, record, verify }, signal);
  }

  /** Waits for the answer until the question expires, or no client was there for as long as the policy allows. */
  #wait(
    { data: { requestId, metadata } }: QuestionItem,
    answer: Promise<ApprovalAnswer>,
  ): Promise<ApprovalAnswer> {
    const { threadId, session } = this.#turn;
    const { approvals, connections, settings } = session;
    const { clock, unattended, onError } = settings;
    const settleAfter = (ms: number, reason: "expired" | "unattended") => {
      const settle = () => void approvals.settle(requestId, reason).catch(onError);
      if (ms > 0) return clock.after(ms, settle);
      settle();
      return () => {};
    };
    const undo: (() => void)[] = [];
    const { expiresAt } = metadata;
    if (expiresAt !== undefined) undo.push(settleAfter(expiresAt - clock.now(), "expired"));
    if (unattended !== "wait") {
      let cancel = () => {};
      const look = () => {
        cancel();
        const isAttended = connections.isAttended(threadId);
        cancel = isAttended
          ? () => {}
          : settleAfter(unattended === "deny" ? 0 : unattended.timeoutMs, "unattended");
      };
      undo.push(connections.onChange(look), () => cancel());
      look();
    }
    return this.#turn.waiting(answer).finally(() => {
      for (const end of undo) end();
    });
  }

  /** The answer, its grant included, is stored before it counts. */
  async #record(item: QuestionItem, answer: ApprovalAnswer): Promise<void> {
    const { itemId, data } = item;
    const { threadId, turnId, log, settings } = this.#turn;
    const { store, onError } = settings;
    const grant = await this.#toGrant(data, answer);
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
    this.#trace(item, answer);
  }

  /** The approval as a span from its question to its answer, whichever servers and clients were there meanwhile. */
  #trace({ data, askedAt }: QuestionItem, { decision, reason }: ApprovalAnswer): void {
    const { threadId: conversationId, trace, settings } = this.#turn;
    const { requestId: approvalId, permission: tool, metadata } = data;
    const now = settings.clock.now();
    const answer =
      decision === undefined ? (reason ?? "expired") : decision === "reject" ? "rejected" : "approved";
    const span = startSpan(() =>
      approvalSpan({
        tool,
        approvalId,
        conversationId,
        input: metadata.input,
        answer,
        parent: trace,
        links: decision === undefined ? [] : [activeTrace()],
        startedAtMs: askedAt ?? now,
      }),
    );
    span?.end(undefined, now);
  }

  /** What an `always` answer allows from now on. */
  async #toGrant(
    { requestId, metadata }: ItemData<"approval">,
    answer: ApprovalAnswer,
  ): Promise<Grant | undefined> {
    if (answer.decision !== "always") return undefined;
    const { settings, observed } = this.#turn;
    const { threadId, directory } = observed;
    const granted = await grantedBy(metadata, answer.match, settings.startOf);
    if (granted === undefined) {
      throw invalidParams("Only exactly this call can be allowed for always", { field: "match" });
    }
    const given = { scope: answer.scope ?? "thread", requestId, grantedBy: answer.resolvedBy };
    const ids = { grantId: settings.createId("grant"), threadId, directory, time: settings.clock.now() };
    return defined({ ...ids, ...granted, ...given });
  }

  #requested({ itemId, data: { requestId, permission, metadata } }: QuestionItem): EventBody {
    const { threadId, turnId } = this.#turn;
    const ids = { threadId, turnId, itemId };
    return { type: "approval.requested", data: { ...ids, requestId, permission, metadata } };
  }
}

/** What clients are notified of when an approval ends. */
export const approvalResolved = (
  threadId: string,
  turnId: string,
  itemId: string,
  { requestId }: ItemData<"approval">,
  {
    decision,
    reason,
    resolvedBy,
  }: Pick<ItemData<"approval">, "decision" | "reason"> & { resolvedBy: string },
): EventBody => ({
  type: "approval.resolved",
  data: defined({ threadId, turnId, itemId, requestId, resolvedBy, decision, reason }),
});
