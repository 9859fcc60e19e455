import type { JsonValue } from "@harnesskit/protocol/envelope";
import {
  type ShellApprovalAnswer,
  type ShellContext,
  ShellErrorCode,
} from "@harnesskit/protocol/openharness";
import { ConnectionClosedError, joinKey, RequestCancelledError, RequestTimeoutError } from "@harnesskit/wire";
import { copyJson } from "@harnesskit/wire/json";
import { conversationKey } from "./admission.ts";
import type { ContinuationClaims } from "./continuation-token.ts";
import { isForeign } from "./continuations.ts";
import { overloaded, Thrown } from "./failure.ts";
import { fingerprint } from "./fingerprint.ts";
import { finishReply, type Payload } from "./finish-reply.ts";
import { HandlerCall, type Inbound } from "./handler-call.ts";
import { type Remembered, RequestMemory } from "./request-memory.ts";
import type { Outcome, RequestRunnerOptions } from "./request-runner-options.ts";
import type { Route } from "./routes.ts";
import { RunningHandler } from "./running-handler.ts";
import { ShellEngineError } from "./shell-engine-error.ts";

/** The key under which a request is remembered, and what tells another request of that id. */
interface RequestKey {
  readonly owner: string;
  readonly key: string;
  readonly sum: number;
}

const cancelled = () =>
  new ShellEngineError(ShellErrorCode.Cancelled, "The engine is closing.", { retryable: true });

const cancelledByShell = () =>
  new ShellEngineError(ShellErrorCode.Cancelled, "The shell has cancelled the request.");

const replyOf = async <Context>(handler: Route<Context>["handler"], call: HandlerCall<Context>) => {
  try {
    return await handler(call);
  } catch (error) {
    throw new Thrown(error);
  }
};

/** Runs handlers: each request once, within its time, and its response remembered by its id. */
export class RequestRunner<Context> {
  readonly #options: RequestRunnerOptions<Context>;
  readonly #memory: RequestMemory<Promise<Payload>>;
  readonly #running = new Set<RunningHandler>();
  #isClosed = false;

  constructor(options: RequestRunnerOptions<Context>) {
    const { limits, clock } = options;
    this.#options = options;
    this.#memory = new RequestMemory({
      maxEntries: limits.maxRememberedRequests,
      maxLength: limits.maxRememberedLength,
      keepMs: limits.rememberMs,
      clock,
    });
  }

  stats() {
    const { size: streams } = this.#options.streams;
    return { inFlight: this.#running.size, rememberedRequests: this.#memory.size, streams };
  }

  /** Throws `cancelled` after `close`. */
  assertOpen(): void {
    if (this.#isClosed) throw cancelled();
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const cause = new ConnectionClosedError("the engine is closed");
    for (const running of [...this.#running]) {
      running.abort(cause);
      running.giveUp();
    }
  }

  /** The response to a request: of its handler, or the one that was remembered. */
  async answer(inbound: Inbound<Context>): Promise<Outcome> {
    const { asked, owner, request, extension, subject } = inbound;
    const belongsToHandler = this.#isForeign(asked);
    const claims = belongsToHandler ? undefined : await this.#options.continuations.read(asked, owner);
    this.assertOpen();
    subject.sessionId = asked.session_id ?? claims?.session;
    subject.runId = claims?.run;
    const { request_id: requestId } = request;
    const id = requestId === undefined ? undefined : this.#keyOf(inbound, requestId);
    const known = id && this.#memory.get(id.owner, id.key);
    if (known) return this.#replay(inbound, known, id.sum);
    if (!belongsToHandler) this.#assertUsable(claims, extension?.approval);
    if (this.#running.size >= this.#options.limits.maxInFlight) throw overloaded();
    return { payload: await this.#begin(inbound, claims, id), isReplay: false };
  }

  /** Whether the request's continuation is a handler's to check. */
  #isForeign(asked: ShellContext): boolean {
    return this.#options.router.takesOwnContinuations && isForeign(asked);
  }

  #keyOf({ owner, request, subject }: Inbound<Context>, requestId: string): RequestKey {
    const sum = fingerprint([request.protocol_version, request.capabilities ?? null, request.request]);
    return { owner, key: joinKey(subject.sessionId ?? "", requestId), sum };
  }

  async #replay(
    inbound: Inbound<Context>,
    { fingerprint: sum, work, text }: Remembered<Promise<Payload>>,
    asked: number,
  ): Promise<Outcome> {
    if (sum !== asked) {
      throw new ShellEngineError(
        ShellErrorCode.RequestIdConflict,
        "This request_id was used for another request.",
      );
    }
    // Each caller that waits for the same work gets an object of its own.
    const kept = text ?? JSON.stringify(await this.#wait(inbound, work as Promise<Payload>, true));
    return { payload: JSON.parse(kept) as Payload, isReplay: true };
  }

  #assertUsable(claims: ContinuationClaims | undefined, approval: ShellApprovalAnswer | undefined): void {
    if (claims) this.#options.continuations.assertUsable(claims, approval);
    else if (approval) {
      throw new ShellEngineError(
        ShellErrorCode.ApprovalMismatch,
        "An answer to an approval comes with the continuation of what was asked.",
      );
    }
  }

  /**
   * Waits for work, within the time of a handler. Then the shell may try again if its next attempt meets this work and begins no
   * other.
   */
  #wait(
    inbound: Inbound<Context>,
    work: Promise<Payload>,
    isRemembered: boolean,
    running?: RunningHandler,
  ): Promise<Payload> {
    const { limits, clock } = this.#options;
    return new Promise((resolve) => {
      const expired = () => {
        const cause = new RequestTimeoutError("the handler", limits.handlerTimeoutMs);
        running?.abort(cause);
        const options = { retryable: isRemembered, cause };
        const error = new ShellEngineError(
          ShellErrorCode.EngineTimeout,
          "The engine took too long.",
          options,
        );
        resolve(this.#failed(inbound, error));
      };
      const cancelTimer = clock.after(limits.handlerTimeoutMs, expired);
      void work.then((payload) => {
        cancelTimer();
        resolve(payload);
      });
    });
  }

  #begin(
    inbound: Inbound<Context>,
    claims: ContinuationClaims | undefined,
    id: RequestKey | undefined,
  ): Promise<Payload> {
    const { clock, limits } = this.#options;
    // A shell that has gone may come back for what it asked by its id.
    const running = new RunningHandler(
      clock.now() + limits.handlerTimeoutMs,
      id ? undefined : inbound.context,
    );
    this.#running.add(running);
    const work = new Promise<Payload>((resolve) => {
      running.giveUp = () => resolve(running.cancelled ?? this.#failed(inbound, cancelled()));
      void this.#run(inbound, claims, running).then((payload) => {
        this.#running.delete(running);
        running.end();
        if (id) this.#settle(id, payload, running.cancelled !== undefined);
        if (this.#isClosed || running.cancelled) running.giveUp();
        else resolve(payload);
      });
    });
    if (id) {
      this.#memory.add(id.owner, id.key, id.sum, work);
      this.#openStream(inbound, running);
    }
    return this.#wait(inbound, work, id !== undefined, running);
  }

  /** A request without an id has no stream: it could not be told from others, nor sent again for its response. */
  #openStream(inbound: Inbound<Context>, running: RunningHandler): void {
    const { onStream, owner, asked, request } = inbound;
    if (!onStream) return;
    const cancel = () => {
      const cause = new RequestCancelledError("the request");
      running.cancelled ??= this.#failed(inbound, cancelledByShell());
      running.abort(cause);
      running.giveUp();
    };
    const of = { owner, sessionId: asked.session_id };
    running.stream = this.#options.streams.open(of, request.request_id as string, cancel);
    onStream(running.stream);
  }

  /** What can be tried again, or was cancelled by its shell, is not remembered, so that the next attempt is made. */
  #settle({ owner, key }: RequestKey, payload: Payload, isCancelled: boolean): void {
    if (isCancelled || payload.value.error?.retryable) this.#memory.forget(owner, key);
    else this.#memory.settle(owner, key, payload.text ?? JSON.stringify(payload));
  }

  /** Never rejects. Begins later: a request is remembered before its handler runs, which may ask this engine for the same one. */
  async #run(
    inbound: Inbound<Context>,
    claims: ContinuationClaims | undefined,
    running: RunningHandler,
  ): Promise<Payload> {
    await undefined;
    const { router, continuations } = this.#options;
    const { asked } = inbound;
    let claimed: ContinuationClaims | undefined;
    try {
      if (!claims) {
        const route = this.#isForeign(asked) ? router.ownContinuation() : router.start(asked.task_hint);
        return await this.#handle(inbound, route, running);
      }
      const route = claims.route === undefined ? router.start(asked.task_hint) : router.resume(claims);
      const data = await continuations.claim(claims);
      claimed = claims;
      // A store may take its time, and the answer to what begins now would reach no shell.
      this.assertOpen();
      return await this.#handle(inbound, route, running, { claims, data });
    } catch (error) {
      const payload = this.#failed(inbound, error);
      if (claimed && payload.value.error?.retryable) await this.#release(claimed);
      return payload;
    }
  }

  async #handle(
    inbound: Inbound<Context>,
    route: Route<Context>,
    running: RunningHandler,
    resumed?: { readonly claims: ContinuationClaims; readonly data: JsonValue | undefined },
  ): Promise<Payload> {
    const { continuations, createId, registry, limits, log } = this.#options;
    const { asked, subject, owner, held } = inbound;
    const { claims, data } = resumed ?? {};
    const run =
      claims?.run === undefined
        ? undefined
        : { id: claims.run, data: data === undefined ? undefined : copyJson(data), step: claims.step };
    const sessionId = subject.sessionId ?? createId("sess");
    const isNew = subject.sessionId === undefined;
    subject.sessionId = sessionId;
    const conversationId = asked.conversation_id ?? claims?.conversation;
    const key = conversationKey(owner, sessionId, conversationId);
    const conversation = { key, sessionId, conversationId, isNew };
    const call = new HandlerCall(inbound, { conversation, run, running, log });
    return finishReply(await replyOf(route.handler, call), {
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
      onFault: this.#options.onError,
    });
  }

  #failed(inbound: Inbound<Context>, error: unknown): Payload {
    return this.#options.toFailure(error, inbound.subject.redact, this.#sinceMs(inbound.startedAt));
  }

  #sinceMs(startedAt: number): number {
    return Math.max(0, this.#options.clock.elapsedMs() - startedAt);
  }

  async #release(claims: ContinuationClaims): Promise<void> {
    try {
      await this.#options.continuations.release(claims);
    } catch (error) {
      this.#options.onError(error);
    }
  }
}
