import {
  type ApprovalDecision,
  ApprovalDecisionSchema,
  type EventBody,
  type ThreadNotificationParams,
} from "@harnesskit/protocol/threads";
import { BoundedMap, BoundedSet, BufferFullError, InvalidArgumentError } from "@harnesskit/wire";
import { digest } from "@harnesskit/wire/json";
import { answerSpan, traced } from "@harnesskit/wire/trace";
import type { RespondApprovalOptions } from "./client-options.ts";
import { ThreadApprovalError, ThreadError } from "./errors.ts";
import type { ThreadSession } from "./thread-session.ts";

/**
 * What a human or a policy decides on. Only `metadata.tool` and `metadata.input` are bound by `metadata.digest`; the
 * rest is for orientation. All of it is untrusted text: show it through `displayText` of `@harnesskit/wire`.
 */
export type ApprovalRequest = ThreadNotificationParams<"approval.requested">;

/** A decision, or `unattended`: a rejection because no user could be asked. */
export type ThreadApprovalAnswer = ApprovalDecision | "unattended";

/**
 * Decides on an approval. The signal aborts when the approval is settled otherwise: another client answered, the turn
 * ended, the connection closed; what is returned after that is ignored. Throwing rejects the approval.
 */
export type ApprovalHandler = (
  request: ApprovalRequest,
  context: { readonly signal: AbortSignal },
) => ThreadApprovalAnswer | Promise<ThreadApprovalAnswer>;

/** Whether an event settles an approval: it was answered, or its turn has ended. */
export const settlesApproval = ({ type, data }: EventBody, approval: ApprovalRequest): boolean => {
  if (type === "approval.resolved") return data.requestId === approval.requestId;
  if (data.threadId !== approval.threadId) return false;
  if (!("turnId" in data) || data.turnId !== approval.turnId) return false;
  if (type === "item.completed") return data.type === "approval" && data.itemId === approval.itemId;
  return type === "turn.completed" || type === "turn.error";
};

/** Approvals whose repetition is noticed. */
const maxSeenIds = 4096;

/** Asks for each approval once, checks what is asked, and sends the answer. Whatever goes wrong here, rejects. */
export class ApprovalCalls {
  readonly #client: ThreadSession;
  readonly #open = new Map<string, { readonly request: ApprovalRequest; readonly abort: AbortController }>();
  readonly #seen = new BoundedSet<string>({ maxSize: maxSeenIds });
  /** The digests that fit what was shown, of late. */
  readonly #verified: BoundedMap<string, string>;

  constructor(client: ThreadSession) {
    this.#client = client;
    this.#verified = new BoundedMap({ maxSize: client.limits.maxOpenApprovals });
  }

  /** Takes every event; acts on those that open or settle an approval. */
  observe(event: EventBody, handler: ApprovalHandler | undefined): void {
    if (event.type === "approval.requested") {
      if (handler && !this.#client.error) void this.#ask(event.data, handler);
      return;
    }
    for (const { request } of [...this.#open.values()]) {
      if (settlesApproval(event, request)) this.settle(request.requestId);
    }
  }

  /** Sends an answer. A server that compares digests gets the one that was verified here; others know no reason either. */
  async respond(
    requestId: string,
    decision: ApprovalDecision,
    { reason, note, scope, match, digest: given, clientRequestId, ...request }: RespondApprovalOptions = {},
  ): Promise<void> {
    const isBound = this.#client.has("grants");
    const verified = isBound ? this.#verified.get(requestId) : undefined;
    const why = isBound ? { reason, note } : {};
    const answer = { requestId, decision, scope, match, digest: given ?? verified, clientRequestId };
    await traced(
      () => answerSpan(requestId, decision),
      () => this.#client.call("approval.respond", { ...answer, ...why }, request),
    );
  }

  /** The caller answers by hand: the callback is no longer asked. */
  settle(requestId: string): void {
    const open = this.#open.get(requestId);
    if (!open) return;
    this.#open.delete(requestId);
    open.abort.abort(
      new ThreadApprovalError("approval_settled", requestId, "the approval is settled otherwise"),
    );
  }

  /** What was asked can no longer be answered. */
  abandon(): void {
    for (const requestId of [...this.#open.keys()]) this.settle(requestId);
  }

  /** Never rejects. */
  async #ask(request: ApprovalRequest, handler: ApprovalHandler): Promise<void> {
    const { requestId } = request;
    if (this.#open.has(requestId) || this.#seen.has(requestId)) return;
    this.#seen.add(requestId);
    const { maxOpenApprovals } = this.#client.limits;
    if (this.#open.size >= maxOpenApprovals) {
      this.#client.report(new BufferFullError("maxOpenApprovals", maxOpenApprovals));
      await this.#answer(requestId, "reject");
      return;
    }
    const abort = new AbortController();
    const { signal } = abort;
    this.#open.set(requestId, { request, abort });
    const answer = await this.#decide(request, handler, signal).catch((cause: unknown) => {
      const why = cause instanceof Error ? `: ${cause.message}` : "";
      const text = `the approval could not be decided, so it is rejected${why}`;
      const failed = new ThreadApprovalError("approval_callback_failed", requestId, text, { cause });
      if (!signal.aborted) this.#client.report(ThreadApprovalError.isInstance(cause) ? cause : failed);
      return "reject" as const;
    });
    if (signal.aborted) return;
    this.#open.delete(requestId);
    await this.#answer(requestId, answer);
  }

  /** Asks the callback for what was verified to be what is shown. */
  async #decide(
    request: ApprovalRequest,
    handler: ApprovalHandler,
    signal: AbortSignal,
  ): Promise<ThreadApprovalAnswer> {
    const { requestId, metadata } = request;
    const actual = await digest({ tool: metadata.tool, input: metadata.input });
    if (signal.aborted) return "reject";
    if (actual !== metadata.digest) {
      const text = "the approval's digest is not that of the tool and the input that it shows";
      throw new ThreadApprovalError("approval_digest_mismatch", requestId, text);
    }
    this.#verified.set(requestId, actual);
    const answer = await handler(request, { signal });
    if (answer === "unattended" || ApprovalDecisionSchema.safeParse(answer).success) return answer;
    const got = typeof answer === "string" ? JSON.stringify(answer) : `a value of type ${typeof answer}`;
    const text = `onApproval must return "once", "always", "reject" or "unattended", got ${got}`;
    throw new InvalidArgumentError(text);
  }

  /** Never rejects. An approval that another client has answered meanwhile does not count as a failure. */
  async #answer(requestId: string, answer: ThreadApprovalAnswer): Promise<void> {
    try {
      if (answer === "unattended") await this.respond(requestId, "reject", { reason: answer });
      else await this.respond(requestId, answer);
    } catch (cause) {
      if (ThreadError.isInstance(cause) && cause.code === "approval_not_found") return;
      const text = `the answer "${answer}" could not be delivered`;
      this.#client.report(new ThreadApprovalError("approval_unanswered", requestId, text, { cause }));
    }
  }
}
