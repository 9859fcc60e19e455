import { ThreadErrorCode } from "@harnesskit/protocol/threads";
import type { ApprovalDecision, ApprovalRequest, EventBody, TurnResult } from "@harnesskit/thread-client";
import { createDeferred, digest, ProtocolError } from "@harnesskit/wire";
import { CliError } from "../cli-error.ts";
import { ExitCode } from "../exit-code.ts";
import type { Approver } from "../run/approver.ts";
import type { RunOutput } from "../run/run-output.ts";
import { exitCodeOf, RefusedCalls } from "../run/turn-outcome.ts";
import type { Terminal } from "../terminal/terminal.ts";
import type { ThreadLink } from "./thread-link.ts";

export interface ThreadFollowerOptions {
  readonly terminal: Terminal;
  readonly output: RunOutput;
  readonly approver: Approver;
  /** Events up to this number are taken in and not shown. @default 0 */
  readonly after?: number;
  /** Of the past, show only the turn that has no end yet. @default false */
  readonly onlyOpenTurn?: boolean;
  /** Go on when the turn has ended. @default false */
  readonly stay?: boolean;
  /** Ends the following; the turn goes on. */
  readonly signal?: AbortSignal;
}

/** Events that may wait for a slow terminal. */
const maxQueuedEvents = 1_000;

/** Events of an open turn that are kept until its log is read; of more, the last. */
const maxHeldEvents = 10_000;

/** A turn that ended, as it was followed. */
export interface FollowedTurn {
  readonly turnId: string;
  readonly result: TurnResult;
  readonly exitCode: ExitCode;
  /** Calls that the user or a policy refused. */
  readonly rejected: number;
}

/** Follows a thread: shows its events and answers what waits, once all of the past is told. */
export class ThreadFollower {
  readonly #options: ThreadFollowerOptions;
  readonly #waiting = new Map<
    string,
    { readonly request: ApprovalRequest; readonly abort: AbortController }
  >();
  readonly #asked = new Set<string>();
  readonly #done = createDeferred<void>();
  readonly #queue: EventBody[] = [];
  readonly #held: EventBody[] = [];
  #isPast = true;
  #draining: Promise<void> = Promise.resolve();
  #link: ThreadLink | undefined;
  #asking: Promise<void> = Promise.resolve();
  #lastSeq = Number.POSITIVE_INFINITY;
  #seen = 0;
  #openTurn: string | undefined;
  #refused = new RefusedCalls();
  #last: FollowedTurn | undefined;

  constructor(options: ThreadFollowerOptions) {
    this.#options = options;
    this.#done.promise.catch(() => {});
  }

  /** The turn that has no end yet, once the past is told. */
  get openTurn(): string | undefined {
    return this.#openTurn;
  }

  /** How many questions wait for an answer. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /**
   * Follows until no turn runs, or until the signal. Gives the turn that ended last, undefined where none did. Rejects
   * with -32001, -32002 and a `CliError` `unavailable` when the server is lost.
   */
  async follow(link: ThreadLink, threadId: string): Promise<FollowedTurn | undefined> {
    this.#link = link;
    const { approver, signal } = this.#options;
    void link.closed.then(async ({ error }) => {
      await this.#draining;
      this.#done.reject(lost(error));
    });
    const stop = () => this.#done.resolve();
    signal?.addEventListener("abort", stop, { once: true });
    if (signal?.aborted) stop();
    try {
      const { thread, lastSeq } = await link.follow(threadId);
      approver.directory = thread.directory;
      this.#lastSeq = lastSeq;
      this.#proceed();
      await this.#done.promise;
    } finally {
      signal?.removeEventListener("abort", stop);
      for (const { abort } of this.#waiting.values()) abort.abort();
      await this.#asking;
    }
    return this.#openTurn === undefined ? this.#last : undefined;
  }

  /** Takes the next event of the thread. Returns a promise when so many wait to be shown that no more should come. */
  readonly take = (event: EventBody): void | Promise<void> => {
    this.#queue.push(event);
    if (this.#queue.length === 1) this.#draining = this.#drain();
    return this.#queue.length < maxQueuedEvents ? undefined : this.#draining;
  };

  async #drain(): Promise<void> {
    for (let event = this.#queue[0]; event !== undefined; event = this.#queue[0]) {
      await this.#show(event);
      this.#queue.shift();
    }
    this.#proceed();
  }

  async #show(event: EventBody): Promise<void> {
    const { output, approver, terminal, after = 0, signal } = this.#options;
    if (signal?.aborted) return;
    const seq = event.data.seq ?? this.#seen;
    this.#seen = Math.max(this.#seen, seq);
    this.#observe(event);
    if (this.#isPast && this.#options.onlyOpenTurn) this.#hold(event);
    else if (seq > after) output.event(event);
    if (event.type === "approval.requested") approver.reached(event.data.requestId);
    if (event.type === "approval.resolved") approver.resolved(event.data);
    await terminal.ready();
  }

  /** Keeps an event of the open turn until it is known that this is the turn to show. */
  #hold(event: EventBody): void {
    if (event.type === "turn.started" || this.#openTurn === undefined) this.#held.length = 0;
    if (this.#openTurn !== undefined) this.#held.push(event);
    if (this.#held.length > maxHeldEvents) this.#held.shift();
  }

  #observe(event: EventBody): void {
    this.#refused.observe(event);
    switch (event.type) {
      case "turn.started":
        this.#openTurn = event.data.turnId;
        this.#refused = new RefusedCalls();
        break;
      case "approval.requested":
        this.#waiting.set(event.data.requestId, { request: event.data, abort: new AbortController() });
        break;
      case "approval.resolved":
        this.#settle(event.data.requestId);
        break;
      case "turn.completed":
        this.#ended({ status: event.data.status, turn: event.data.turn });
        break;
      case "turn.error": {
        const { turn, error, code } = event.data;
        this.#ended({ status: "error", turn, error, code });
        break;
      }
    }
  }

  #ended(result: TurnResult): void {
    const exitCode = exitCodeOf(result, this.#refused);
    const { turnId } = result.turn;
    // A turn that had ended before is not one of those to follow.
    if (!this.#isPast || !this.#options.onlyOpenTurn)
      this.#last = { turnId, result, exitCode, rejected: this.#refused.rejected };
    this.#openTurn = undefined;
    for (const requestId of [...this.#waiting.keys()]) this.#settle(requestId);
  }

  #settle(requestId: string): void {
    this.#waiting.get(requestId)?.abort.abort();
    this.#waiting.delete(requestId);
  }

  /** Once the past is told: asks what waits, one question after the other, and ends when nothing runs. */
  #proceed(): void {
    if (this.#seen < this.#lastSeq || this.#queue.length > 0) return;
    this.#isPast = false;
    for (const event of this.#held.splice(0)) this.#options.output.event(event);
    for (const [requestId, { request, abort }] of this.#waiting) {
      if (this.#asked.has(requestId)) continue;
      this.#asked.add(requestId);
      this.#asking = this.#asking.then(() => this.#ask(request, abort.signal));
    }
    if (this.#openTurn === undefined && !this.#options.stay) this.#done.resolve();
  }

  /** Never rejects: an answer that could not be given ends the following, and the question goes on waiting. */
  async #ask(request: ApprovalRequest, signal: AbortSignal): Promise<void> {
    const { requestId, metadata } = request;
    try {
      const decision = await this.#decide(request, signal);
      if (decision === undefined || signal.aborted || this.#options.signal?.aborted) return;
      await this.#link?.respond(requestId, decision, metadata.digest);
    } catch (error) {
      if (signal.aborted || isAnswered(error)) return;
      this.#done.reject(error);
    }
  }

  async #decide(request: ApprovalRequest, signal: AbortSignal): Promise<ApprovalDecision | undefined> {
    const { tool, input, digest: shown } = request.metadata;
    if (signal.aborted) return undefined;
    // What is shown has to be what the answer is bound to.
    if ((await digest({ tool, input })) !== shown) return "reject";
    return this.#options.approver.answer(request, { signal });
  }
}

const isAnswered = (error: unknown): boolean =>
  ProtocolError.isInstance(error) && error.rpcCode === ThreadErrorCode.ApprovalNotFound;

const lost = (cause: unknown): CliError =>
  new CliError("unavailable", "The server has ended, or the connection to it is lost", {
    exitCode: ExitCode.unavailable,
    hint: "What happened until then is in the log: harness threads list",
    cause,
  });
