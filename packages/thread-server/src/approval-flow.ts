import type {
  ApprovalMetadata,
  EventBody,
  Grant,
  ItemData,
  ItemOf,
  Thread,
} from "@harnesskit/protocol/threads";
import type { ActiveTurn } from "./active-turn.ts";
import { watchQuestion } from "./approval-policy.ts";
import type { ApprovalAnswer, Approvals } from "./approvals.ts";
import type { Attendance } from "./attendance.ts";
import { previewDigestOf } from "./find-grant.ts";
import type { JudgedPrompt } from "./prompt-gate.ts";
import { newRequestId } from "./request-id.ts";
import type { ServerSettings } from "./server-settings.ts";
import type { JudgedCall } from "./turn-runner.ts";

export interface ApprovalFlowOptions {
  readonly turn: ActiveTurn;
  readonly thread: Thread;
  readonly approvals: Approvals;
  readonly attendance: Attendance;
  readonly settings: ServerSettings;
}

/** A question that was answered. */
export interface Answered {
  readonly requestId: string;
  readonly answer: ApprovalAnswer;
}

/** A question that stands in the log, with the call that it asks about. */
export interface StandingQuestion {
  readonly itemId: string;
  readonly data: ItemData<"approval">;
}

/** What is asked about: a call, or another thing that has a digest. */
interface Subject {
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
  readonly #options: ApprovalFlowOptions;

  constructor(options: ApprovalFlowOptions) {
    this.#options = options;
  }

  /** Asks about a call and waits for the answer. Rejects when the turn is told to stop. */
  askAboutCall(
    { tool, input, preview, digest, itemId: toolItemId }: JudgedCall,
    reason: string | undefined,
  ): Promise<Answered> {
    return this.#ask({ permission: tool.name, input, preview, digest, toolItemId }, reason);
  }

  /** Asks whether the agent may have a prompt, as for a call. */
  askAboutPrompt({ text, digest }: JudgedPrompt, reason: string | undefined): Promise<Answered> {
    return this.#ask({ permission: promptPermission, input: { text }, digest }, reason);
  }

  async #ask(subject: Subject, reason: string | undefined): Promise<Answered> {
    const { turn, thread, settings } = this.#options;
    const requestId = newRequestId(thread.threadId, settings.createId);
    const { permission, input, preview, digest, toolItemId } = subject;
    const metadata: ApprovalMetadata = { tool: permission, input, digest };
    if (preview !== undefined) metadata.preview = preview;
    if (reason !== undefined) metadata.reason = reason;
    if (settings.approvalTimeoutMs !== undefined) {
      metadata.expiresAt = settings.clock.now() + settings.approvalTimeoutMs;
    }
    const data = { requestId, permission, metadata, ...(toolItemId !== undefined && { toolItemId }) };
    const itemId = turn.newId("item");
    // The very object that was shown is what runs: nothing can have changed.
    const answer = this.#expect({ itemId, data }, async () => true);
    await turn.start("approval", itemId, data);
    await turn.append(this.#requested({ itemId, data }));
    return { requestId, answer: await this.#wait(data, answer) };
  }

  /** Waits on for a question of an earlier server; `verify` says whether what would run is still what was shown. */
  async standing(
    question: StandingQuestion,
    wasRequested: boolean,
    verify: () => Promise<boolean>,
  ): Promise<ApprovalAnswer> {
    const answer = this.#expect(question, verify);
    if (!wasRequested) await this.#options.turn.append(this.#requested(question));
    return this.#wait(question.data, answer);
  }

  /** From here on the question can be answered. */
  #expect(question: StandingQuestion, verify: () => Promise<boolean>): Promise<ApprovalAnswer> {
    const { turn, approvals } = this.#options;
    const { requestId, metadata } = question.data;
    const record = (answer: ApprovalAnswer, onWritten: () => void) =>
      this.#record(question, answer, onWritten);
    return approvals.wait({ requestId, metadata, record, verify }, turn.signal);
  }

  /** Waits for the answer to a question that was told, for as long as the policy allows. */
  #wait(
    { requestId, metadata }: ItemData<"approval">,
    answer: Promise<ApprovalAnswer>,
  ): Promise<ApprovalAnswer> {
    const { turn, thread, approvals, attendance, settings } = this.#options;
    const { threadId } = thread;
    const { clock, unattended, onError } = settings;
    const settle = (reason: "expired" | "unattended") =>
      void approvals.settle(requestId, reason).catch(onError);
    const { expiresAt } = metadata;
    const unwatch = watchQuestion({ threadId, expiresAt, unattended, attendance, clock, settle });
    return turn.waiting(answer).finally(unwatch);
  }

  /** The answer, its grant included, is stored before it counts. */
  async #record(question: StandingQuestion, answer: ApprovalAnswer, onWritten: () => void): Promise<void> {
    const { turn, thread, settings } = this.#options;
    const { itemId, data } = question;
    const grant = await this.#toGrant(data, answer);
    if (grant) await settings.store.addGrant(grant);
    try {
      const completed = turn.complete("approval", itemId, { ...data, ...answer }, onWritten);
      await Promise.all([
        completed,
        turn.append(approvalResolved(thread.threadId, turn.turnId, itemId, data, answer)),
      ]);
    } catch (error) {
      if (grant) await settings.store.removeGrant(grant.grantId);
      throw error;
    }
  }

  /** What an `always` answer allows from now on. */
  async #toGrant(
    { requestId, metadata }: ItemData<"approval">,
    answer: ApprovalAnswer,
  ): Promise<Grant | undefined> {
    if (answer.decision !== "always") return undefined;
    const { thread, settings } = this.#options;
    const { threadId, directory } = thread;
    const { tool, input, digest } = metadata;
    const previewDigest = await previewDigestOf(metadata.preview);
    const shown = previewDigest === undefined ? { digest } : { digest, previewDigest };
    const given = { scope: answer.scope ?? "thread", requestId, grantedBy: answer.resolvedBy };
    const grantId = settings.createId("grant");
    return { grantId, threadId, directory, tool, input, ...shown, time: settings.clock.now(), ...given };
  }

  #requested({ itemId, data }: StandingQuestion): EventBody {
    const { turn, thread } = this.#options;
    const { requestId, permission, metadata } = data;
    const ids = { threadId: thread.threadId, turnId: turn.turnId, itemId };
    return { type: "approval.requested", data: { ...ids, requestId, permission, metadata } };
  }
}

/** What all clients are told of an approval's end. */
export const approvalResolved = (
  threadId: string,
  turnId: string,
  itemId: string,
  { requestId }: ItemData<"approval">,
  answer: { decision?: ItemData<"approval">["decision"]; reason?: string; resolvedBy: string },
): EventBody => {
  const { decision, reason, resolvedBy } = answer;
  const how = { ...(decision !== undefined && { decision }), ...(reason !== undefined && { reason }) };
  return { type: "approval.resolved", data: { threadId, turnId, itemId, requestId, resolvedBy, ...how } };
};

/** An approval item as it stands in the log, if it says what it asks. */
export const toStandingQuestion = ({ itemId, data }: ItemOf<"approval">): StandingQuestion | undefined =>
  data && { itemId, data };
