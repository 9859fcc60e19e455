import type { JsonValue } from "@harnesskit/protocol/envelope";
import {
  type ActionRegistry,
  type ApprovalAnswer,
  type ShellContext,
  ShellErrorCode,
} from "@harnesskit/protocol/openharness";
import {
  type Clock,
  ConnectionClosedError,
  type CreateId,
  isThenable,
  RequestTimeoutError,
  Slots,
} from "@harnesskit/wire";
import type { ContinuationClaims } from "./continuation-token.ts";
import { type Continuations, isForeign } from "./continuations.ts";
import { copyJson } from "./copy-json.ts";
import { overloaded } from "./failure.ts";
import { fingerprint } from "./fingerprint.ts";
import { finishReply } from "./finish-reply.ts";
import { HandlerCall, type Inbound } from "./handler-call.ts";
import type { ResolvedLimits } from "./limits.ts";
import { conversationKey } from "./owner-key.ts";
import { Payload } from "./payload.ts";
import { type Redact, redactNothing } from "./redaction.ts";
import { type Remembered, RequestMemory } from "./request-memory.ts";
import type { Route, Router } from "./routes.ts";
import { inTime, RunningCall, signalOf } from "./running-call.ts";
import type { MaybePromise } from "./shell-call.ts";
import { ShellEngineError } from "./shell-engine-error.ts";
import type { ShellLog } from "./shell-log.ts";

export interface Outcome {
  readonly payload: Payload;
  readonly isReplay: boolean;
}

interface Work {
  readonly call: RunningCall;
  readonly startedAt: number;
  /** Nobody waits for the work any more: this is what came of it. Undefined where nobody waits yet. */
  giveUp: ((payload: Payload) => void) | undefined;
}

export interface RequestWorksOptions<Context> {
  readonly limits: ResolvedLimits;
  readonly clock: Clock;
  readonly createId: CreateId;
  readonly registry: ActionRegistry;
  readonly log: ShellLog;
  readonly router: Router<Context>;
  readonly continuations: Continuations;
  readonly toFailure: (error: unknown, redact: Redact, elapsedMs?: number) => Payload;
  readonly onError: (error: unknown) => void;
}

/** By what a request is remembered, and what tells another one of that id. */
interface RequestKey {
  readonly owner: string;
  readonly key: string;
  readonly sum: number;
}

const cancelled = () =>
  new ShellEngineError(ShellErrorCode.Cancelled, "The engine is closing.", { retryable: true });

/** Runs handlers: each request once, within its time, and what it leads to remembered by its id. */
export class RequestWorks<Context> {
  readonly #options: RequestWorksOptions<Context>;
  readonly #memory: RequestMemory<Promise<Payload>>;
  readonly #running = new Slots<Work>();
  #isClosed = false;
  /** A handler is being asked in this turn, and its request is not remembered yet. */
  #isAsking = false;

  constructor(options: RequestWorksOptions<Context>) {
    const { limits, clock } = options;
    this.#options = options;
    this.#memory = new RequestMemory({
      maxEntries: limits.maxRememberedRequests,
      maxLength: limits.maxRememberedLength,
      keepMs: limits.rememberMs,
      clock,
    });
  }

  gauges() {
    return { inFlight: this.#running.size, rememberedRequests: this.#memory.size };
  }

  /** Throws `cancelled` after `close`. */
  assertOpen(): void {
    if (this.#isClosed) throw cancelled();
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const cause = new ConnectionClosedError("the engine is closed");
    for (const { call, startedAt, giveUp } of this.#running) {
      call.abort(cause);
      giveUp?.(this.#said(cancelled(), startedAt));
    }
  }

  /** The response to a request: of its handler, or the one that was remembered. At once where nothing has to be waited for. */
  answer(inbound: Inbound<Context>): MaybePromise<Outcome> {
    const { asked, owner } = inbound;
    const claims = this.#isForeign(asked) ? undefined : this.#options.continuations.read(asked, owner);
    if (claims === undefined && !this.#isAsking) return this.#answer(inbound, undefined);
    // What a handler asks of its own engine waits for its turn to end: it may be the same request, and may ask on and on.
    return Promise.resolve(claims).then((read) => this.#answer(inbound, read));
  }

  /** Whether the request's continuation is a handler's to check. */
  #isForeign(asked: ShellContext): boolean {
    return this.#options.router.takesOwnContinuations && isForeign(asked);
  }

  #answer(inbound: Inbound<Context>, claims: ContinuationClaims | undefined): MaybePromise<Outcome> {
    const { asked, owner, request, extension, subject } = inbound;
    this.assertOpen();
    subject.sessionId = asked.session_id ?? claims?.session;
    subject.runId = claims?.run;
    const { request_id: requestId } = request;
    const session = subject.sessionId ?? "";
    const id =
      requestId === undefined
        ? undefined
        : {
            owner,
            key: `${session.length}:${session}${requestId}`,
            sum: fingerprint([request.protocol_version, request.capabilities, request.request]),
          };
    const known = id && this.#memory.get(id.owner, id.key);
    if (known) return this.#replay(inbound, known, id.sum);
    if (claims || !this.#isForeign(asked)) this.#assertGood(claims, extension?.approval);
    if (this.#running.size >= this.#options.limits.maxInFlight) throw overloaded();
    return this.#begin(inbound, claims, id);
  }

  #replay(
    inbound: Inbound<Context>,
    { fingerprint: sum, work, text }: Remembered<Promise<Payload>>,
    asked: number,
  ): MaybePromise<Outcome> {
    if (sum !== asked) {
      throw new ShellEngineError(
        ShellErrorCode.RequestIdConflict,
        "This request_id was used for another request.",
      );
    }
    if (text !== undefined) return { payload: Payload.ofKept(text), isReplay: true };
    // Each who waits for the same work gets an object of their own.
    return this.#wait(inbound, work as Promise<Payload>, true).then((payload) => ({
      payload: Payload.ofKept(payload.kept),
      isReplay: true,
    }));
  }

  #assertGood(claims: ContinuationClaims | undefined, approval: ApprovalAnswer | undefined): void {
    if (claims) this.#options.continuations.assertGood(claims, approval);
    else if (approval) {
      const words = "An answer to an approval comes with the continuation of what was asked.";
      throw new ShellEngineError(ShellErrorCode.ApprovalMismatch, words);
    }
  }

  /** After the time the shell is told so; it may try again if its next attempt meets this work and begins no other one. */
  #wait(
    inbound: Inbound<Context>,
    work: Promise<Payload>,
    isRemembered: boolean,
    call?: RunningCall,
  ): Promise<Payload> {
    const { limits, clock } = this.#options;
    const { handlerTimeoutMs } = limits;
    return inTime(work, handlerTimeoutMs, clock, () => {
      const cause = new RequestTimeoutError("the handler", handlerTimeoutMs);
      call?.abort(cause);
      const options = { retryable: isRemembered, cause };
      const error = new ShellEngineError(ShellErrorCode.EngineTimeout, "The engine took too long.", options);
      return this.#said(error, inbound.startedAt);
    });
  }

  #begin(
    inbound: Inbound<Context>,
    claims: ContinuationClaims | undefined,
    id: RequestKey | undefined,
  ): MaybePromise<Outcome> {
    const { clock, limits } = this.#options;
    const { context } = inbound;
    // A shell that has gone may come back for what it asked by its id.
    const call = new RunningCall(clock, limits.handlerTimeoutMs, () => (id ? undefined : signalOf(context)));
    const running: Work = { call, startedAt: inbound.startedAt, giveUp: undefined };
    const slot = this.#running.add(running);
    this.#isAsking = true;
    const done = this.#work(inbound, claims, call);
    this.#isAsking = false;
    const end = (): void => {
      this.#running.remove(slot);
      call.end();
    };
    if (!(done instanceof Promise)) {
      // By the handler itself, then.
      const payload = this.#isClosed ? this.#said(cancelled(), inbound.startedAt) : done;
      end();
      // Nothing came in between: what handlers ask of their own engine waits.
      if (id && !payload.value.error?.retryable) this.#memory.addDone(id.owner, id.key, id.sum, payload.kept);
      return { payload, isReplay: false };
    }
    const work = new Promise<Payload>((resolve) => {
      running.giveUp = resolve;
      if (this.#isClosed) resolve(this.#said(cancelled(), inbound.startedAt));
      void done.then((payload) => {
        end();
        if (id) this.#settle(id, payload);
        resolve(payload);
      });
    });
    if (id) this.#memory.add(id.owner, id.key, id.sum, work);
    return this.#wait(inbound, work, id !== undefined, call).then((payload) => ({
      payload,
      isReplay: false,
    }));
  }

  /** What can be tried again is not remembered: the next attempt is to be made, and not to be told of this one. */
  #settle({ owner, key }: RequestKey, payload: Payload): void {
    if (payload.value.error?.retryable) this.#memory.forget(owner, key);
    else this.#memory.settle(owner, key, payload.kept);
  }

  /** Neither throws nor rejects. */
  #work(
    inbound: Inbound<Context>,
    claims: ContinuationClaims | undefined,
    call: RunningCall,
  ): MaybePromise<Payload> {
    try {
      const { router } = this.#options;
      const { asked } = inbound;
      const start = () => (this.#isForeign(asked) ? router.ownContinuation() : router.start(asked.task_hint));
      const done = claims ? this.#resume(inbound, claims, call) : this.#handle(inbound, start(), call);
      return done instanceof Promise ? done.catch((error) => this.#failed(inbound, error)) : done;
    } catch (error) {
      return this.#failed(inbound, error);
    }
  }

  async #resume(inbound: Inbound<Context>, claims: ContinuationClaims, call: RunningCall): Promise<Payload> {
    const { router, continuations } = this.#options;
    const route = claims.route === undefined ? router.start(inbound.asked.task_hint) : router.resume(claims);
    const data = await continuations.claim(claims);
    try {
      // A store may take its time, and what begins now would be an answer to nobody.
      this.assertOpen();
      return await this.#handle(inbound, route, call, { claims, data });
    } catch (error) {
      const payload = this.#failed(inbound, error);
      if (payload.value.error?.retryable) await this.#release(claims);
      return payload;
    }
  }

  #handle(
    inbound: Inbound<Context>,
    route: Route<Context>,
    running: RunningCall,
    resumed?: { readonly claims: ContinuationClaims; readonly data: JsonValue | undefined },
  ): MaybePromise<Payload> {
    const { continuations, createId, registry, limits, log } = this.#options;
    const { asked, subject, owner, held, extension } = inbound;
    const { claims, data } = resumed ?? {};
    const run =
      claims?.run === undefined ? undefined : { id: claims.run, data: copyJson(data), step: claims.step };
    const sessionId = subject.sessionId ?? createId("sess");
    const isNew = subject.sessionId === undefined;
    subject.sessionId = sessionId;
    const conversationId = asked.conversation_id ?? claims?.conversation;
    const key = conversationKey(owner, sessionId, conversationId);
    const conversation = { key, sessionId, conversationId, isNew };
    const approval = extension?.approval;
    const returned: unknown = route.handler(
      new HandlerCall(inbound, { conversation, run, approval, running, log }),
    );
    const parts = {
      registry,
      limits,
      continuations,
      held,
      owner,
      conversation,
      route,
      runId: () => run?.id ?? createId("run"),
      isOwnSession: asked.session_id === undefined,
      elapsedMs: () => this.#sinceMs(inbound.startedAt),
    };
    if (!isThenable(returned)) return finishReply(returned, parts);
    return Promise.resolve(returned).then((reply) => finishReply(reply, parts));
  }

  #failed(inbound: Inbound<Context>, error: unknown): Payload {
    return this.#options.toFailure(error, inbound.subject.redact, this.#sinceMs(inbound.startedAt));
  }

  /** A failure in the engine's own words, which stay readable whatever a shell has put into its state. */
  #said(error: ShellEngineError, startedAt: number): Payload {
    return this.#options.toFailure(error, redactNothing, this.#sinceMs(startedAt));
  }

  #sinceMs(startedAt: number): number {
    return Math.max(0, this.#options.clock.now() - startedAt);
  }

  async #release(claims: ContinuationClaims): Promise<void> {
    try {
      await this.#options.continuations.release(claims);
    } catch (error) {
      this.#options.onError(error);
    }
  }
}
