import { jsonLength } from "@harnesskit/protocol/envelope";
import {
  type ActionRegistry,
  type ApprovalAnswer,
  ShellErrorCode,
  type ShellResponsePayload,
} from "@harnesskit/protocol/openharness";
import {
  type Clock,
  ConnectionClosedError,
  type CreateId,
  RequestTimeoutError,
  Slots,
} from "@harnesskit/wire";
import type { ContinuationClaims } from "./continuation-token.ts";
import type { Continuations } from "./continuations.ts";
import { copyJson } from "./copy-json.ts";
import { overloaded } from "./failure.ts";
import { fingerprint } from "./fingerprint.ts";
import { finishReply } from "./finish-reply.ts";
import { HandlerCall, type Inbound } from "./handler-call.ts";
import type { ResolvedLimits } from "./limits.ts";
import { conversationKey } from "./owner-key.ts";
import type { Redact } from "./redaction.ts";
import { RequestMemory } from "./request-memory.ts";
import type { Router } from "./routes.ts";
import { inTime, RunningCall } from "./running-call.ts";
import { ShellEngineError } from "./shell-engine-error.ts";
import type { ShellLog } from "./shell-log.ts";

interface Outcome {
  readonly payload: ShellResponsePayload;
  readonly isReplay: boolean;
}

interface Work {
  readonly call: RunningCall;
  /** Nobody waits for the work any more: this is what came of it. */
  readonly giveUp: (payload: ShellResponsePayload) => void;
}

export interface RequestWorksOptions<Context> {
  readonly limits: ResolvedLimits;
  readonly clock: Clock;
  readonly createId: CreateId;
  readonly registry: ActionRegistry;
  readonly log: ShellLog;
  readonly router: Router<Context>;
  readonly continuations: Continuations;
  readonly toFailure: (error: unknown, redact: Redact) => ShellResponsePayload;
  readonly onError: (error: unknown) => void;
}

const cancelled = () =>
  new ShellEngineError(ShellErrorCode.Cancelled, "The engine is closing.", { retryable: true });

/** Runs handlers: each request once, within its time, and what it leads to remembered by its id. */
export class RequestWorks<Context> {
  readonly #options: RequestWorksOptions<Context>;
  readonly #memory: RequestMemory<ShellResponsePayload>;
  readonly #running = new Slots<Work>();
  #isClosed = false;

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
    for (const { call, giveUp } of this.#running) {
      call.abort(cause);
      giveUp(this.#options.toFailure(cancelled(), (value) => value));
    }
  }

  /** The response to a request: of its handler, or the one that was remembered. */
  async answer(inbound: Inbound<Context>): Promise<Outcome> {
    const { asked, owner, request, extension, subject } = inbound;
    const { continuations, limits } = this.#options;
    const claims = await continuations.read(asked, owner);
    this.assertOpen();
    subject.sessionId = asked.session_id ?? claims?.session;
    subject.runId = claims?.run;
    const { request_id: requestId } = request;
    const approval = extension?.approval;
    const session = subject.sessionId ?? "";
    const key = requestId && `${session.length}:${session}${requestId}`;
    const sum = key && fingerprint([request.protocol_version, request.capabilities, request.request]);
    const known = key ? this.#memory.get(owner, key) : undefined;
    if (known) {
      if (known.fingerprint !== sum) {
        throw new ShellEngineError(
          ShellErrorCode.RequestIdConflict,
          "This request_id was used for another request.",
        );
      }
      return { payload: await this.#wait(known.work, true, undefined), isReplay: true };
    }
    this.#assertGood(claims, approval);
    if (this.#running.size >= limits.maxInFlight) {
      throw overloaded();
    }
    const [work, call] = this.#begin(inbound, claims, approval);
    if (key && sum) this.#remember(owner, key, sum, work);
    return { payload: await this.#wait(work, key !== undefined, call), isReplay: false };
  }

  #assertGood(claims: ContinuationClaims | undefined, approval: ApprovalAnswer | undefined): void {
    if (claims) this.#options.continuations.assertGood(claims, approval);
    else if (approval) {
      const words = "An answer to an approval comes with the continuation of what was asked.";
      throw new ShellEngineError(ShellErrorCode.ApprovalMismatch, words);
    }
  }

  /** What can be tried again is not remembered: the next attempt is to be made, and not to be told of this one. */
  #remember(owner: string, key: string, sum: string, work: Promise<ShellResponsePayload>): void {
    this.#memory.add(owner, key, { fingerprint: sum, work });
    void work.then((payload) => {
      if (payload.error?.retryable) this.#memory.forget(owner, key);
      else this.#memory.settle(owner, key, jsonLength(payload));
    });
  }

  /** After the time the shell is told so; it may try again if its next attempt meets this work and begins no other one. */
  #wait(
    work: Promise<ShellResponsePayload>,
    isRemembered: boolean,
    call: RunningCall | undefined,
  ): Promise<ShellResponsePayload> {
    const { limits, clock, toFailure } = this.#options;
    const { handlerTimeoutMs } = limits;
    return inTime(work, handlerTimeoutMs, clock, () => {
      const cause = new RequestTimeoutError("the handler", handlerTimeoutMs);
      call?.abort(cause);
      const options = { retryable: isRemembered, cause };
      const error = new ShellEngineError(ShellErrorCode.EngineTimeout, "The engine took too long.", options);
      return toFailure(error, (value) => value);
    });
  }

  #begin(
    inbound: Inbound<Context>,
    claims: ContinuationClaims | undefined,
    approval: ApprovalAnswer | undefined,
  ): [Promise<ShellResponsePayload>, RunningCall] {
    const { clock, limits } = this.#options;
    const { context, request } = inbound;
    // A shell that has gone may come back for what it asked by its id.
    const outer = () => (request.request_id === undefined ? signalOf(context) : undefined);
    const call = new RunningCall(clock, limits.handlerTimeoutMs, outer);
    const work = new Promise<ShellResponsePayload>((resolve) => {
      const slot = this.#running.add({ call, giveUp: resolve });
      void this.#work(inbound, claims, approval, call).then((payload) => {
        this.#running.remove(slot);
        call.end();
        resolve(payload);
      });
    });
    return [work, call];
  }

  /** Never rejects. */
  async #work(
    inbound: Inbound<Context>,
    claims: ContinuationClaims | undefined,
    approval: ApprovalAnswer | undefined,
    call: RunningCall,
  ): Promise<ShellResponsePayload> {
    const { router, continuations, createId, clock, toFailure, registry, limits } = this.#options;
    const { asked, subject, startedAt } = inbound;
    let isClaimed = false;
    let payload: ShellResponsePayload;
    try {
      const route = claims?.route === undefined ? router.start(asked.task_hint) : router.resume(claims);
      const data = claims && (await continuations.claim(claims));
      isClaimed = claims !== undefined;
      // A store may take its time, and what begins now would be an answer to nobody.
      this.assertOpen();
      const run =
        claims?.run === undefined ? undefined : { id: claims.run, data: copyJson(data), step: claims.step };
      const sessionId = subject.sessionId ?? createId("sess");
      const isNew = subject.sessionId === undefined;
      subject.sessionId = sessionId;
      const conversationId = asked.conversation_id ?? claims?.conversation;
      const key = conversationKey(inbound.owner, sessionId, conversationId);
      const conversation = { key, sessionId, conversationId, isNew };
      const returned = await route.handler(
        new HandlerCall(inbound, { conversation, run, approval, running: call, log: this.#options.log }),
      );
      payload = await finishReply(returned, {
        registry,
        limits,
        continuations,
        held: inbound.held,
        owner: inbound.owner,
        conversation,
        route,
        runId: () => run?.id ?? createId("run"),
        isOwnSession: asked.session_id === undefined,
      });
    } catch (error) {
      payload = toFailure(error, subject.redact);
      if (isClaimed && claims && payload.error?.retryable) await this.#release(claims);
    }
    payload.engine_latency_ms = Math.max(0, clock.now() - startedAt);
    return payload;
  }

  async #release(claims: ContinuationClaims): Promise<void> {
    try {
      await this.#options.continuations.release(claims);
    } catch (error) {
      this.#options.onError(error);
    }
  }
}

const signalOf = (context: unknown): AbortSignal | undefined => {
  if (typeof context !== "object" || context === null) return undefined;
  const { signal } = context as { signal?: unknown };
  return signal instanceof AbortSignal ? signal : undefined;
};
