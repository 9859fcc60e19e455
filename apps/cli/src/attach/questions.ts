import {
  type ApprovalRequest,
  type EventBody,
  type ThreadApprovalAnswer,
  type ThreadClient,
  ThreadError,
} from "@harnesskit/thread-client";
import { digest, type HarnessError } from "@harnesskit/wire";
import { isObject } from "@harnesskit/wire/json";
import { CliError } from "../cli-error.ts";
import type { Approver } from "../run/approver.ts";
import { oneLine } from "../terminal/text.ts";

export interface QuestionsOptions {
  readonly client: ThreadClient;
  readonly approver: Approver;
  readonly onFailure: (error: unknown) => void;
  readonly onError: (error: HarnessError) => void;
}

interface Question {
  readonly request: ApprovalRequest;
  readonly settled: AbortController;
  isPut: boolean;
}

const maxQuestions = 256;

/** The questions of a thread that wait. They are put one after the other. */
export class Questions {
  readonly #options: QuestionsOptions;
  readonly #waiting = new Map<string, Question>();
  readonly #over = new AbortController();
  #putting: Promise<void> = Promise.resolve();

  constructor(options: QuestionsOptions) {
    this.#options = options;
  }

  /** True while a question waits. */
  get isWaiting(): boolean {
    return this.#waiting.size > 0;
  }

  knows(event: EventBody): boolean {
    return event.type === "approval.requested" && this.#waiting.has(event.data.requestId);
  }

  observe(event: EventBody): void {
    const { approver } = this.#options;
    switch (event.type) {
      case "approval.requested":
        if (this.#waiting.size >= maxQuestions) return;
        this.#waiting.set(event.data.requestId, {
          request: event.data,
          settled: new AbortController(),
          isPut: false,
        });
        approver.reached(event.data.requestId);
        return;
      case "approval.resolved":
        this.#settle(event.data.requestId);
        approver.resolved(event.data);
        return;
      case "item.completed":
        if (event.data.type === "approval") this.#settleItem(event.data);
        return;
      case "turn.completed":
      case "turn.error":
        for (const requestId of [...this.#waiting.keys()]) this.#settle(requestId);
    }
  }

  put(): void {
    for (const question of this.#waiting.values()) {
      if (question.isPut) continue;
      question.isPut = true;
      this.#putting = this.#putting.then(() => this.#answer(question));
    }
  }

  async end(): Promise<void> {
    this.#over.abort();
    for (const { settled } of this.#waiting.values()) settled.abort();
    await this.#putting;
  }

  #settle(requestId: string): void {
    this.#waiting.get(requestId)?.settled.abort();
    this.#waiting.delete(requestId);
  }

  #settleItem({ turnId, itemId }: { turnId: string; itemId: string }): void {
    for (const { request } of [...this.#waiting.values()])
      if (request.turnId === turnId && request.itemId === itemId) this.#settle(request.requestId);
  }

  /** Never rejects. An answer that came too late does not count and is not a failure. */
  async #answer({ request, settled: { signal } }: Question): Promise<void> {
    const { client, onFailure } = this.#options;
    const { requestId, metadata } = request;
    try {
      if (signal.aborted) return;
      const answer = await this.#decide(request, signal);
      if (answer === undefined || signal.aborted) return;
      const bound = bindsDigests(client) ? { digest: metadata.digest } : {};
      const why = answer === "unattended" ? { reason: answer } : {};
      const decision = answer === "unattended" ? "reject" : answer;
      await client.respondApproval(requestId, decision, { ...bound, ...why, signal: this.#over.signal });
    } catch (error) {
      if (!signal.aborted && !isAnswered(error)) onFailure(error);
    }
  }

  async #decide(request: ApprovalRequest, signal: AbortSignal): Promise<ThreadApprovalAnswer | undefined> {
    const { approver, onError } = this.#options;
    const { tool, input, digest: claimed } = request.metadata;
    // What is shown must be what the answer is bound to.
    if ((await digest({ tool, input })) === claimed) return approver.answer(request, { signal });
    onError(digestMismatch(request.requestId));
    return "reject";
  }
}

const digestMismatch = (requestId: string): CliError =>
  new CliError(
    "approval_digest_mismatch",
    `${oneLine(requestId, 80)} is rejected: its digest is not that of the call that it shows`,
  );

const bindsDigests = ({ capabilities: { extensions } }: ThreadClient): boolean =>
  isObject(extensions) && extensions.grants === true;

const isAnswered = (error: unknown): boolean =>
  ThreadError.isInstance(error) && error.code === "approval_not_found";
