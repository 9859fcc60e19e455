import type { JsonValue } from "@harnesskit/protocol/envelope";
import {
  type ShellApprovalAnswer,
  type ShellContext,
  ShellErrorCode,
} from "@harnesskit/protocol/openharness";
import { ConnectionClosedError, joinKey, RequestCancelledError, RequestTimeoutError } from "@harnesskit/wire";
import { jsonDifference } from "@harnesskit/wire/json";
import { conversationKey } from "./admission.ts";
import type { ContinuationClaims } from "./continuation-token.ts";
import { isForeign } from "./continuations.ts";
import type { EngineParts } from "./engine-parts.ts";
import { overloaded, Thrown } from "./failure.ts";
import type { Inbound } from "./inbound.ts";
import { type Remembered, RequestMemory } from "./request-memory.ts";
import type { Route } from "./routes.ts";
import { RunningHandler } from "./running-handler.ts";
import { ShellCall } from "./shell-call.ts";
import { ShellEngineError } from "./shell-engine-error.ts";
import { ResponseStream } from "./streaming/response-stream.ts";
import { type Payload, toPayload } from "./to-payload.ts";

export interface Outcome {
  readonly payload: Payload;
  readonly isReplay: boolean;
}

/** The key under which a request is remembered, and the request as JSON. */
interface RequestKey {
  readonly owner: string;
  readonly key: string;
  readonly asked: string;
}

const error = (code: string, message: string, options = {}) => new ShellEngineError(code, message, options);
const closing = () => error(ShellErrorCode.Cancelled, "The engine is closing.", { retryable: true });
const tookTooLong = (options: object) =>
  error(ShellErrorCode.EngineTimeout, "The engine took too long.", options);

/** Whether both are the same JSON, whatever the order of their keys. */
const isSame = (one: string, other: string): boolean =>
  one === other || jsonDifference(JSON.parse(one), JSON.parse(other)) === undefined;

/** Runs handlers: each request once, within its time, and its response remembered by its id. */
export class RequestRunner<Context> {
  readonly #engine: EngineParts<Context>;
  readonly #memory: RequestMemory<Promise<Payload>>;
  readonly #running = new Map<RunningHandler, Inbound<Context>>();
  #isClosed = false;

  constructor(engine: EngineParts<Context>) {
    const { limits, clock } = engine;
    this.#engine = engine;
    this.#memory = new RequestMemory({
      maxEntries: limits.maxRememberedRequests,
      maxLength: limits.maxRememberedLength,
      keepMs: limits.rememberMs,
      clock,
    });
  }

  stats() {
    return { inFlight: this.#running.size, rememberedRequests: this.#memory.size };
  }

  /** Throws `cancelled` after `close`. */
  assertOpen(): void {
    if (this.#isClosed) throw closing();
  }

  close(): void {
    this.#isClosed = true;
    const cause = new ConnectionClosedError("the engine is closed");
    for (const [running, inbound] of this.#running) {
      running.abort.abort(cause);
      running.response.resolve(this.#failed(inbound, closing()));
    }
  }

  /** Ends the work whose stream this is. Of another owner or session it is not found, and nothing happens. */
  cancelStream(id: string, owner: string, sessionId: string | undefined): void {
    for (const [running, inbound] of this.#running) {
      if (running.stream?.id !== id || running.isCancelled) continue;
      if (inbound.owner !== owner || inbound.asked.session_id !== sessionId) return;
      running.isCancelled = true;
      running.abort.abort(new RequestCancelledError("the request"));
      const cancelled = error(ShellErrorCode.Cancelled, "The shell has cancelled the request.");
      running.response.resolve(this.#failed(inbound, cancelled));
    }
  }

  /** The response to a request: of its handler, or the one that was remembered. */
  async answer(inbound: Inbound<Context>): Promise<Outcome> {
    const { asked, owner, extension, subject } = inbound;
    const belongsToHandler = this.#isForeign(asked);
    const reading = belongsToHandler ? undefined : this.#engine.continuations.read(asked, owner);
    const claims = reading && (await reading);
    subject.sessionId = asked.session_id ?? claims?.session;
    subject.runId = claims?.run;
    const id = this.#keyOf(inbound);
    this.assertOpen();
    const known = id && this.#memory.get(id.owner, id.key);
    if (known) return this.#replay(inbound, known, id.asked);
    if (!belongsToHandler) this.#assertUsable(claims, extension?.approval);
    if (this.#running.size >= this.#engine.limits.maxInFlight) throw overloaded();
    return { payload: await this.#begin(inbound, claims, id), isReplay: false };
  }

  /** Whether the request's continuation is a handler's to check. */
  #isForeign(asked: ShellContext): boolean {
    return this.#engine.router.takesOwnContinuations && isForeign(asked);
  }

  #keyOf({ owner, request, subject }: Inbound<Context>): RequestKey | undefined {
    const { request_id: requestId, protocol_version: version, capabilities = null } = request;
    if (requestId === undefined) return undefined;
    const key = joinKey(subject.sessionId ?? "", requestId);
    return { owner, key, asked: JSON.stringify([version, capabilities, request.request]) };
  }

  async #replay(
    inbound: Inbound<Context>,
    { asked: known, work, text }: Remembered<Promise<Payload>>,
    asked: string,
  ): Promise<Outcome> {
    if (!isSame(known, asked)) {
      throw error(ShellErrorCode.RequestIdConflict, "This request_id was used for another request.");
    }
    // Each caller that waits for the same work gets an object of its own.
    const kept = text ?? JSON.stringify(await this.#wait(inbound, work as Promise<Payload>, true));
    return { payload: JSON.parse(kept) as Payload, isReplay: true };
  }

  #assertUsable(claims: ContinuationClaims | undefined, approval: ShellApprovalAnswer | undefined): void {
    if (claims) this.#engine.continuations.assertUsable(claims, approval);
    else if (approval) {
      const message = "An answer to an approval comes with the continuation of what was asked.";
      throw error(ShellErrorCode.ApprovalMismatch, message);
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
    const { limits, clock } = this.#engine;
    return new Promise((resolve) => {
      const cancelTimer = clock.after(limits.handlerTimeoutMs, () => {
        const cause = new RequestTimeoutError("the handler", limits.handlerTimeoutMs);
        running?.abort.abort(cause);
        resolve(this.#failed(inbound, tookTooLong({ retryable: isRemembered, cause })));
      });
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
    const { clock, limits, createId } = this.#engine;
    // A shell that has gone may come back for what it asked by its id.
    const dueAtMs = clock.now() + limits.handlerTimeoutMs;
    const running = new RunningHandler(dueAtMs, id ? undefined : inbound.context);
    const { promise } = running.response;
    this.#running.set(running, inbound);
    if (id) {
      this.#memory.add(id.owner, id.key, id.asked, promise);
      // A request without an id has no stream: it could not be sent again for its response.
      if (inbound.onStream) {
        running.stream = new ResponseStream(createId("stream"), inbound.request.request_id as string, limits);
        inbound.onStream(running.stream);
      }
    }
    void this.#runToEnd(inbound, claims, running, id);
    return this.#wait(inbound, promise, id !== undefined, running);
  }

  async #runToEnd(
    inbound: Inbound<Context>,
    claims: ContinuationClaims | undefined,
    running: RunningHandler,
    id: RequestKey | undefined,
  ): Promise<void> {
    const payload = await this.#run(inbound, claims, running);
    this.#running.delete(running);
    if (id) this.#settle(id, payload, running.isCancelled);
    running.end(payload);
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
    const { router, continuations, failures } = this.#engine;
    const { asked } = inbound;
    let isClaimed = false;
    try {
      if (!claims) {
        const route = this.#isForeign(asked) ? router.ownContinuation() : router.start(asked.task_hint);
        return await this.#handle(inbound, route, running, undefined, undefined);
      }
      const route = claims.route === undefined ? router.start(asked.task_hint) : router.resume(claims);
      const data = await continuations.claim(claims);
      isClaimed = true;
      // A store may take its time, and the answer to what begins now would reach no shell.
      this.assertOpen();
      return await this.#handle(inbound, route, running, claims, data);
    } catch (failure) {
      const payload = this.#failed(inbound, failure);
      if (claims && isClaimed && payload.value.error?.retryable) {
        await continuations.release(claims).catch(failures.onError);
      }
      return payload;
    }
  }

  async #handle(
    inbound: Inbound<Context>,
    route: Route<Context>,
    running: RunningHandler,
    claims: ContinuationClaims | undefined,
    data: JsonValue | undefined,
  ): Promise<Payload> {
    const { createId, write } = this.#engine;
    const { asked, subject, owner } = inbound;
    const run = claims?.run === undefined ? undefined : { id: claims.run, data, step: claims.step };
    const isNew = subject.sessionId === undefined;
    const sessionId = subject.sessionId ?? createId("sess");
    subject.sessionId = sessionId;
    const conversationId = asked.conversation_id ?? claims?.conversation;
    const key = conversationKey(owner, sessionId, conversationId);
    const conversation = { key, sessionId, conversationId, isNew };
    let returned: unknown;
    try {
      returned = await route.handler(new ShellCall({ inbound, conversation, run, running, write }));
    } catch (thrown) {
      throw new Thrown(thrown);
    }
    return await toPayload(returned, { engine: this.#engine, inbound, conversation, route, run });
  }

  #failed({ subject }: Inbound<Context>, failure: unknown): Payload {
    return this.#engine.failures.payload(failure, subject);
  }
}
