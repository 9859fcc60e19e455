import {
  type ApprovalDecision,
  type ApprovalRequest,
  type EventBody,
  type GrantScope,
  type ThreadClient,
  ThreadError,
} from "@harnesskit/thread-client";
import { createDeferred, type Deferred, digest, type HarnessError } from "@harnesskit/wire";
import { isObject } from "@harnesskit/wire/json";
import { settleWithin } from "@harnesskit/wire/time";
import { CliError, refusedError } from "../cli-error.ts";
import type { Session } from "../session/session.ts";
import { alwaysChoices, askedCallLines } from "../timeline/asked-call.ts";

export interface QuestionsOptions {
  readonly session: Session;
  /** Called after Ctrl-C at a question. */
  readonly onCancel: () => void;
  /** The command that asks again, after Esc has left a question waiting. */
  readonly again: (threadId: string) => string;
  /** Shows a question that is only watched. @default in the view */
  readonly onWatched?: ((request: ApprovalRequest) => void) | undefined;
  readonly onError: (error: HarnessError) => void;
}

interface GivenAnswer {
  readonly decision: ApprovalDecision;
  readonly reason?: "unattended";
  readonly note?: string | undefined;
  readonly scope?: GrantScope;
  readonly match?: "start" | undefined;
}

interface Waiting {
  readonly request: ApprovalRequest;
  readonly settled: AbortController;
  isPut: boolean;
}

const maxQuestions = 256;

/** The questions of a thread that wait. They are put one after the other, each once the view has come to it. */
export class Questions {
  /** The thread's directory. */
  directory = "";
  readonly #options: QuestionsOptions;
  readonly #waiting = new Map<string, Waiting>();
  #asked: { readonly client: ThreadClient; readonly onFailure: (error: unknown) => void } | undefined;
  #over = new AbortController();
  #putting: Promise<void> = Promise.resolve();
  /** Aborts what is put while its answer could not be delivered; undefined while it can. */
  #away: Deferred<void> | undefined;
  #leaving = new AbortController();

  constructor(options: QuestionsOptions) {
    this.#options = options;
  }

  get clientName(): string {
    const { mode, command } = this.#options.session;
    if (mode === "ask") return command;
    if (mode === "watch") return `${command} (watching)`;
    return mode === "no-terminal" ? `${command} (no terminal)` : `${command} --approve ${mode}`;
  }

  /** True while a question waits. */
  get isWaiting(): boolean {
    return this.#waiting.size > 0;
  }

  /** The server is away: no question is put until `back`. */
  away(): void {
    this.#away ??= createDeferred<void>();
    this.#leaving.abort();
  }

  back(): void {
    if (this.#away === undefined) return;
    this.#leaving = new AbortController();
    this.#away.resolve();
    this.#away = undefined;
  }

  /** Begins to answer at this client. `onFailure` gets why an answer could not be given. */
  begin(client: ThreadClient, onFailure: (error: unknown) => void): void {
    this.#asked = { client, onFailure };
    this.#over = new AbortController();
  }

  knows(event: EventBody): boolean {
    return event.type === "approval.requested" && this.#waiting.has(event.data.requestId);
  }

  observe(event: EventBody): void {
    switch (event.type) {
      case "approval.requested":
        if (this.#waiting.size >= maxQuestions || this.knows(event)) return;
        this.#waiting.set(event.data.requestId, {
          request: event.data,
          settled: new AbortController(),
          isPut: false,
        });
        return;
      case "approval.resolved":
        this.#settle(event.data.requestId);
        return;
      case "item.completed":
        if (event.data.type === "approval") this.#settleItem(event.data);
        return;
      case "turn.completed":
      case "turn.error":
        for (const requestId of [...this.#waiting.keys()]) this.#settle(requestId);
    }
  }

  /** Puts what waits. */
  put(): void {
    for (const waiting of this.#waiting.values()) {
      if (waiting.isPut) continue;
      waiting.isPut = true;
      this.#putting = this.#putting.then(() => this.#answer(waiting));
    }
  }

  async end(): Promise<void> {
    this.#over.abort();
    for (const requestId of [...this.#waiting.keys()]) this.#settle(requestId);
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
  async #answer({ request, settled: { signal } }: Waiting): Promise<void> {
    const { requestId, metadata } = request;
    if (this.#asked === undefined || signal.aborted) return;
    const { client, onFailure } = this.#asked;
    try {
      const answer = await this.#decide(request, signal);
      if (answer === undefined || signal.aborted) return;
      const { decision, scope, match, ...why } = answer;
      const bound = bindsDigests(client) ? { digest: metadata.digest, scope, match } : {};
      await client.respondApproval(requestId, decision, { ...bound, ...why, signal: this.#over.signal });
    } catch (error) {
      if (!signal.aborted && !isAnswered(error)) onFailure(error);
    }
  }

  async #decide(request: ApprovalRequest, signal: AbortSignal): Promise<GivenAnswer | undefined> {
    const { session, onError } = this.#options;
    const { mode } = session;
    const { tool, input, digest: claimed } = request.metadata;
    // What is shown must be what the answer is bound to.
    if ((await digest({ tool, input })) !== claimed) {
      onError(digestMismatch(request.requestId));
      return { decision: "reject" };
    }
    if (mode === "no-terminal") return { decision: "reject", reason: "unattended" };
    if (mode === "once" || mode === "reject") return { decision: mode };
    return mode === "watch" ? this.#watch(request) : this.#ask(request, signal);
  }

  #lines({ metadata }: ApprovalRequest): Promise<string[]> {
    return askedCallLines(metadata, { directory: this.directory }, this.#options.session.view.style);
  }

  async #watch(request: ApprovalRequest): Promise<undefined> {
    const { onWatched, session } = this.#options;
    const { view } = session;
    if (onWatched) onWatched(request);
    else view.lines([...(await this.#lines(request)), `  ${view.style.yellow(watchedText)}`]);
    return undefined;
  }

  async #ask(request: ApprovalRequest, signal: AbortSignal): Promise<GivenAnswer | undefined> {
    const { session, onCancel, again } = this.#options;
    while (!signal.aborted) {
      if (this.#away) await settleWithin(this.#away.promise, { name: "approval.gate", signal });
      const { signal: leaving } = this.#leaving;
      const always = alwaysChoices(request.metadata, this.directory);
      const question = { lines: await this.#lines(request), always, canWait: true };
      const answer = await session.ask(question, AbortSignal.any([signal, leaving]));
      if (answer === "interrupted") onCancel();
      if (answer === "later") throw leftWaiting(again(request.threadId));
      if (answer === "interrupted") return undefined;
      if (answer?.decision === "approve") {
        const { always: reach } = answer;
        if (reach === undefined) return { decision: "once" };
        return { decision: "always", scope: "directory", match: reach === "start" ? reach : undefined };
      }
      if (answer !== undefined) return { decision: "reject", note: answer.reason };
    }
    return undefined;
  }
}

/** Shown with a question that cannot be answered here. */
export const watchedText =
  "This client only watches: there is no terminal to ask in. To answer: --approve once, or --approve reject";

const leftWaiting = (again: string): CliError =>
  refusedError("approval_waiting", "The question is left waiting, and its turn with it", {
    hint: { to: "To answer it", run: again },
  });

const digestMismatch = (requestId: string): CliError =>
  new CliError(
    "approval_digest_mismatch",
    `${requestId} is rejected: its digest is not that of the call that it shows`,
  );

const bindsDigests = ({ capabilities: { extensions } }: ThreadClient): boolean =>
  isObject(extensions) && extensions.grants === true;

const isAnswered = (error: unknown): boolean =>
  ThreadError.isInstance(error) && error.code === "approval_not_found";
