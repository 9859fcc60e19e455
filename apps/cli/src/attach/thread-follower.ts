import type { EventBody, ThreadClient, ThreadEvent, TurnHandle, TurnResult } from "@harnesskit/thread-client";
import { createDeferred } from "@harnesskit/wire";
import { CliError, type ExitCode } from "../cli-error.ts";
import type { RunOutput } from "../run/run-output.ts";
import { exitCodeOf, RefusedCalls } from "../timeline/outcomes.ts";
import type { Questions } from "./questions.ts";

export interface ThreadFollowerOptions {
  /** Settles when more can be shown. */
  readonly ready: () => Promise<void>;
  readonly output: RunOutput;
  readonly questions: Questions;
}

/** How a thread is followed. */
export interface FollowOptions {
  /** Events up to this number are taken in and not shown. @default 0 */
  readonly after?: number | undefined;
  /** Of the past, show only the turn that has no end yet. @default false */
  readonly onlyOpenTurn?: boolean;
  /** With `onlyOpenTurn`: this turn, too, where it has ended by now. @default none */
  readonly turnId?: string | undefined;
  /** Why a turn that waits for an answer is not followed: nothing of it is answered. @default it is followed */
  readonly openTurnRefusal?: (() => CliError) | undefined;
  /** Go on when the turn has ended. @default false */
  readonly stay?: boolean | undefined;
  readonly signal?: AbortSignal;
}

const maxHeldEvents = 10_000;

/** A turn that ended, as it was followed. */
export interface FollowedTurn {
  readonly turnId: string;
  readonly result: TurnResult;
  readonly exitCode: ExitCode;
  /** Calls that were not approved because no user could be asked. */
  readonly unasked: number;
}

/** Follows a turn or a thread once: shows its events, and answers pending approvals once the whole past was shown. */
export class ThreadFollower {
  readonly #parts: ThreadFollowerOptions;
  readonly #done = createDeferred<void>();
  readonly #over = new AbortController();
  readonly #held: EventBody[] = [];
  readonly #refused = new RefusedCalls();
  #how: FollowOptions | undefined;
  #isPast = true;
  #isCurrent = false;
  #seen = 0;
  #openTurn: string | undefined;
  #heldTurn: string | undefined;
  #last: FollowedTurn | undefined;

  constructor(parts: ThreadFollowerOptions) {
    this.#parts = parts;
    this.#done.promise.catch(() => {});
  }

  get openTurn(): string | undefined {
    return this.#openTurn;
  }

  /** Whether events that were dropped are read from the thread again: a turn of this client has them once. */
  get readsAgain(): boolean {
    return this.#how !== undefined;
  }

  /** Follows a turn of this client to its end. Rejects with the errors of the client. */
  async run(client: ThreadClient, turn: TurnHandle, directory: string): Promise<FollowedTurn> {
    const { questions, output, ready } = this.#parts;
    questions.directory = directory;
    questions.begin(client, this.#done.reject);
    const show = async () => {
      for await (const event of turn) {
        this.#refused.observe(event);
        // A question that is answered elsewhere leaves the terminal before anything is written below it.
        questions.observe(event);
        output.event(event);
        questions.put();
        await ready();
      }
    };
    try {
      await Promise.race([show(), this.#done.promise]);
      return this.#followed(await turn.result);
    } finally {
      await questions.end();
    }
  }

  /**
   * Follows until no turn runs, or until the signal. Returns the turn that ended last, undefined where none did. Rejects
   * with the errors of the client, and a `CliError` `thread_not_found` when the thread is deleted meanwhile.
   */
  async follow(
    client: ThreadClient,
    threadId: string,
    how: FollowOptions = {},
  ): Promise<FollowedTurn | undefined> {
    const { questions } = this.#parts;
    const { signal } = how;
    this.#how = how;
    questions.begin(client, this.#done.reject);
    signal?.addEventListener("abort", this.#finish, { once: true });
    if (signal?.aborted) this.#finish();
    try {
      this.#read(client, threadId).catch(this.#done.reject);
      await this.#done.promise;
    } finally {
      signal?.removeEventListener("abort", this.#finish);
      this.#over.abort();
      await questions.end();
    }
    return this.#openTurn === undefined ? this.#last : undefined;
  }

  async #read(client: ThreadClient, threadId: string): Promise<void> {
    const { signal } = this.#over;
    while (!signal.aborted) {
      const subscription = await client.subscribe(threadId, { afterSeq: this.#seen, signal });
      const close = () => subscription.close();
      signal.addEventListener("abort", close, { once: true });
      this.#parts.questions.directory = subscription.thread.directory;
      this.#isCurrent = false;
      void subscription.caughtUp.then((isTold) => isTold && this.#caughtUp());
      let isWhole = true;
      for await (const event of subscription) {
        if (signal.aborted) return;
        isWhole = !this.#isCurrent || subscription.droppedItems + subscription.droppedDeltas === 0;
        if (!isWhole) break;
        await this.#show(event);
        this.#proceed();
      }
      signal.removeEventListener("abort", close);
      if (isWhole && !signal.aborted) throw deleted();
    }
  }

  async #show(threadEvent: ThreadEvent): Promise<void> {
    const { output, ready, questions } = this.#parts;
    const { after = 0, onlyOpenTurn } = this.#how ?? {};
    const event = toBody(threadEvent);
    this.#seen = Math.max(this.#seen, event.data.seq ?? 0);
    if (questions.knows(event)) return;
    this.#observe(event);
    questions.observe(event);
    if (this.#isPast && onlyOpenTurn) this.#hold(event);
    else if (this.#seen > after) output.event(event);
    await ready();
  }

  #hold(event: EventBody): void {
    if (event.type === "turn.started") {
      this.#held.length = 0;
      this.#heldTurn = event.data.turnId;
    }
    const { turnId } = this.#how ?? {};
    if (this.#openTurn === undefined && (turnId === undefined || this.#heldTurn !== turnId))
      this.#held.length = 0;
    else this.#held.push(event);
    if (this.#held.length > maxHeldEvents) this.#held.shift();
  }

  #observe(event: EventBody): void {
    this.#refused.observe(event);
    switch (event.type) {
      case "turn.started":
        this.#openTurn = event.data.turnId;
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
    // A turn that had ended before is not one of those to follow.
    const { onlyOpenTurn, turnId } = this.#how ?? {};
    if (!this.#isPast || !onlyOpenTurn || result.turn.turnId === turnId) this.#last = this.#followed(result);
    this.#openTurn = undefined;
  }

  #followed(result: TurnResult): FollowedTurn {
    const { turnId } = result.turn;
    const unasked = this.#refused.count("unattended");
    return { turnId, result, exitCode: exitCodeOf(result, this.#refused), unasked };
  }

  #caughtUp(): void {
    if (this.#over.signal.aborted) return;
    const { questions, output } = this.#parts;
    const { openTurnRefusal } = this.#how ?? {};
    if (openTurnRefusal && this.#openTurn !== undefined && questions.isWaiting) {
      this.#done.reject(openTurnRefusal());
      return;
    }
    this.#isPast = false;
    this.#isCurrent = true;
    for (const event of this.#held.splice(0)) output.event(event);
    this.#proceed();
  }

  #proceed(): void {
    if (this.#isPast) return;
    if (this.#isCurrent) this.#parts.questions.put();
    if (this.#openTurn === undefined && !this.#how?.stay) this.#finish();
  }

  readonly #finish = (): void => {
    this.#over.abort();
    this.#done.resolve();
  };
}

const toBody = ({ seq, time, type, data }: ThreadEvent): EventBody => {
  const place = { seq, time };
  return { type, data: { ...data, ...place } } as EventBody;
};

const deleted = (): CliError =>
  new CliError("thread_not_found", "The thread was deleted", {
    hint: { to: "Others", run: "harness threads list" },
  });
