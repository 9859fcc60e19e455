import {
  type ApprovalDecision,
  ApprovalDecisionSchema,
  type EventBody,
  type ThreadNotificationParams,
} from "@harnesskit/protocol/threads";
import { BufferFullError, digest, type HarnessError } from "@harnesskit/wire";
import { ApprovalError, ThreadError } from "./errors.ts";
import { SeenIds } from "./seen-ids.ts";

/**
 * What a human or a policy decides on. Only `metadata.tool` and `metadata.input` are bound by `metadata.digest`; the
 * rest is for orientation. All of it is untrusted text: show it through `displayText` of `@harnesskit/wire`.
 */
export type ApprovalRequest = ThreadNotificationParams<"approval.requested">;

/** A decision, or `unattended`: a rejection because no user could be asked. */
export type ApprovalAnswer = ApprovalDecision | "unattended";

/**
 * Decides on an approval. The signal aborts when the approval is settled otherwise: somebody else answered, the turn
 * ended, the connection closed; what is returned after that is ignored. Throwing rejects the approval.
 */
export type ApprovalHandler = (
  request: ApprovalRequest,
  context: { readonly signal: AbortSignal },
) => ApprovalAnswer | Promise<ApprovalAnswer>;

export interface ApprovalDeskOptions {
  readonly maxOpenApprovals: number;
  /** Sends `approval.respond`. */
  readonly respond: (requestId: string, answer: ApprovalAnswer) => Promise<void>;
  readonly onError: (error: HarnessError) => void;
}

interface OpenApproval {
  readonly request: ApprovalRequest;
  readonly abort: AbortController;
}

/** Asks for each approval once, checks what is asked, and sends the answer. Whatever goes wrong here, rejects. */
export class ApprovalDesk {
  readonly #options: ApprovalDeskOptions;
  readonly #open = new Map<string, OpenApproval>();
  readonly #seen = new SeenIds();
  /** The digests that fit what was shown, of late. */
  readonly #verified = new Map<string, string>();
  #closed = false;

  constructor(options: ApprovalDeskOptions) {
    this.#options = options;
  }

  /** Takes every event; acts on those that open or settle an approval. */
  observe(event: EventBody, handler: ApprovalHandler | undefined): void {
    switch (event.type) {
      case "approval.requested":
        if (handler && !this.#closed) this.#ask(event.data, handler);
        return;
      case "approval.resolved":
        this.settle(event.data.requestId);
        return;
      case "item.completed":
        if (event.data.type === "approval")
          this.#settleWhere(({ itemId }) => itemId === event.data.itemId, event);
        return;
      case "turn.completed":
      case "turn.error":
        this.#settleWhere(() => true, event);
    }
  }

  /** The digest of a request that was found to fit the tool and the input. */
  verifiedDigest(requestId: string): string | undefined {
    return this.#verified.get(requestId);
  }

  /** The caller answers by hand: the callback is no longer asked. */
  settle(requestId: string): void {
    const open = this.#open.get(requestId);
    if (!open) return;
    this.#open.delete(requestId);
    open.abort.abort(new ApprovalError("approval_settled", requestId, "the approval is settled otherwise"));
  }

  /** The connection is closed. */
  close(): void {
    this.#closed = true;
    this.abandon();
  }

  /** What was asked can no longer be answered. */
  abandon(): void {
    for (const requestId of [...this.#open.keys()]) this.settle(requestId);
  }

  #ask(request: ApprovalRequest, handler: ApprovalHandler): void {
    const { requestId } = request;
    if (this.#open.has(requestId) || !this.#seen.add(requestId)) return;
    const { maxOpenApprovals } = this.#options;
    if (this.#open.size >= maxOpenApprovals) {
      this.#options.onError(new BufferFullError("maxOpenApprovals", maxOpenApprovals));
      void this.#answer(requestId, "reject");
      return;
    }
    const open = { request, abort: new AbortController() };
    this.#open.set(requestId, open);
    void this.#decide(open, handler);
  }

  async #decide(open: OpenApproval, handler: ApprovalHandler): Promise<void> {
    const { requestId } = open.request;
    const decision = await this.#decisionOf(open, handler);
    if (decision === undefined || this.#open.get(requestId) !== open) return;
    this.#open.delete(requestId);
    await this.#answer(requestId, decision);
  }

  /** The answer, or undefined when none is wanted any more. Never rejects. */
  async #decisionOf(
    { request, abort }: OpenApproval,
    handler: ApprovalHandler,
  ): Promise<ApprovalAnswer | undefined> {
    const { signal } = abort;
    const { requestId, metadata } = request;
    try {
      const actual = await digest({ tool: metadata.tool, input: metadata.input });
      if (signal.aborted) return undefined;
      if (actual !== metadata.digest) throw digestMismatch(requestId);
      this.#noteVerified(requestId, actual);
      const answer = await handler(request, { signal });
      return answer === "unattended" ? answer : ApprovalDecisionSchema.parse(answer);
    } catch (cause) {
      if (signal.aborted) return undefined;
      this.#options.onError(ApprovalError.isInstance(cause) ? cause : callbackFailed(requestId, cause));
      return "reject";
    }
  }

  /** Never rejects. An approval that somebody else has answered meanwhile is no failure. */
  async #answer(requestId: string, answer: ApprovalAnswer): Promise<void> {
    try {
      await this.#options.respond(requestId, answer);
    } catch (cause) {
      if (ThreadError.isInstance(cause) && cause.code === "approval_not_found") return;
      const text = `the answer "${answer}" could not be delivered`;
      this.#options.onError(new ApprovalError("approval_unanswered", requestId, text, { cause }));
    }
  }

  #noteVerified(requestId: string, verified: string): void {
    this.#verified.set(requestId, verified);
    if (this.#verified.size <= this.#options.maxOpenApprovals) return;
    for (const oldest of this.#verified.keys()) {
      this.#verified.delete(oldest);
      break;
    }
  }

  #settleWhere(
    matches: (request: ApprovalRequest) => boolean,
    { data }: { data: { threadId: string; turnId: string } },
  ): void {
    for (const { request } of [...this.#open.values()]) {
      const sameTurn = request.turnId === data.turnId && request.threadId === data.threadId;
      if (sameTurn && matches(request)) this.settle(request.requestId);
    }
  }
}

const digestMismatch = (requestId: string) =>
  new ApprovalError(
    "approval_digest_mismatch",
    requestId,
    "the approval's digest is not that of the tool and the input that it shows",
  );

const callbackFailed = (requestId: string, cause: unknown) =>
  new ApprovalError(
    "approval_callback_failed",
    requestId,
    "the approval could not be decided: it is rejected",
    {
      cause,
    },
  );
