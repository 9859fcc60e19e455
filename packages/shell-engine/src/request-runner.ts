import {
  parseShellRequest,
  ShellErrorCode,
  type ShellRequest,
  type ShellResponse,
} from "@harnesskit/protocol/openharness";
import {
  ConnectionClosedError,
  joinKey,
  RequestCancelledError,
  RequestTimeoutError,
  writtenJson,
} from "@harnesskit/wire";
import { jsonDifference } from "@harnesskit/wire/json";
import type { EngineParts } from "./engine-parts.ts";
import type { EngineRequest } from "./engine-request.ts";
import { overloaded, Thrown } from "./failure.ts";
import { RequestMemory } from "./request-memory.ts";
import type { Route } from "./routes.ts";
import { ShellCall } from "./shell-call.ts";
import { ShellEngineError } from "./shell-engine-error.ts";
import { ResponseStream } from "./streaming/response-stream.ts";
import { type Payload, toPayload } from "./to-payload.ts";

const error = (code: string, message: string, options = {}) => new ShellEngineError(code, message, options);
const closing = () => error(ShellErrorCode.Cancelled, "The engine is closing.", { retryable: true });

/** What a request asks: neither its ids nor how it is written. */
const contentOf = ({ protocol_version, capabilities, request }: ShellRequest) => ({
  protocol_version,
  capabilities,
  request,
});

/** Whether a request asks the same as the one whose JSON this is. What is not the JSON of a request is never the same. */
const asksSame = (json: string, { text, request }: EngineRequest<unknown>): boolean => {
  if (json === text) return true;
  const parsed = parseShellRequest(JSON.parse(json));
  if (request === undefined || !("data" in parsed)) return false;
  return jsonDifference(contentOf(parsed.data), contentOf(request)) === undefined;
};

/** A response as it is remembered, and what is taken of it for another request. */
const toAnswer = ({ value, denials, response }: Payload): string =>
  writtenJson(response) ?? JSON.stringify({ response: value, capability_denials: denials });
const fromAnswer = (answer: string): Payload => {
  const { response: value, capability_denials: denials = [] } = JSON.parse(answer) as ShellResponse;
  return { value, denials };
};

/** Runs handlers: each request once, within its time, and its response remembered by its id. */
export class RequestRunner<Context> {
  readonly #engine: EngineParts<Context>;
  readonly #memory: RequestMemory;
  /** What handlers work on, those that took too long included: by its key, or without one by itself. */
  readonly #running = new Map<unknown, EngineRequest<Context>>();
  #isClosed = false;

  constructor(engine: EngineParts<Context>) {
    this.#engine = engine;
    this.#memory = new RequestMemory(engine.limits, engine.clock);
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
    for (const asked of this.#running.values()) this.#giveUp(asked, cause, closing());
  }

  /** Ends the work whose stream this is. Of another owner or session it is not found, and nothing happens. */
  cancelStream(id: string, owner: string, sessionId: string | undefined): void {
    for (const running of this.#running.values()) {
      if (running.stream?.id !== id || running.isCancelled) continue;
      if (running.owner !== owner || running.asked.session_id !== sessionId) return;
      running.isCancelled = true;
      const cancelled = error(ShellErrorCode.Cancelled, "The shell has cancelled the request.");
      this.#giveUp(running, new RequestCancelledError("the request"), cancelled);
    }
  }

  /** The response to a request: of its handler, or the one that was remembered. */
  async answer(request: EngineRequest<Context>): Promise<Payload> {
    const { router, continuations, limits, clock } = this.#engine;
    const { asked, owner, extension, requestId } = request;
    request.isForeign = router.isForeign(asked);
    const reading = request.isForeign ? undefined : continuations.read(asked, owner);
    const claims = reading && (await reading);
    request.claims = claims;
    request.sessionId = asked.session_id ?? claims?.session;
    this.assertOpen();
    if (requestId !== undefined) {
      request.key = joinKey(owner, request.sessionId ?? "", requestId);
      request.text ||= JSON.stringify(request.request);
      const known = this.#running.get(request.key) ?? this.#memory.get(owner, request.key);
      if (known) {
        if (!asksSame(known.text, request)) {
          throw error(ShellErrorCode.RequestIdConflict, "This request_id was used for another request.");
        }
        request.isReplay = true;
        return "answer" in known ? fromAnswer(known.answer) : this.#wait(request, known);
      }
    }
    if (!request.isForeign) continuations.assertUsable(claims, extension?.approval);
    if (this.#running.size >= limits.maxInFlight) throw overloaded();
    request.dueAtMs = clock.now() + limits.handlerTimeoutMs;
    this.#running.set(request.key ?? request, request);
    // A request without an id has no stream: it could not be sent again for its response.
    if (requestId !== undefined && request.onStream) {
      request.stream = new ResponseStream(this.#engine.createId("stream"), requestId, limits);
      request.onStream(request.stream);
    }
    void this.#runToEnd(request);
    return this.#wait(request, request);
  }

  /**
   * Waits for the response to the running request, within the time of a handler. Then the shell may try again if its next attempt
   * meets this work and begins no other.
   */
  #wait(request: EngineRequest<Context>, running: EngineRequest<Context>): Promise<Payload> {
    const { limits, clock } = this.#engine;
    return new Promise((resolve) => {
      const cancelTimer = clock.after(limits.handlerTimeoutMs, () => {
        const cause = new RequestTimeoutError("the handler", limits.handlerTimeoutMs);
        if (running === request) request.abort(cause);
        const options = { retryable: request.key !== undefined, cause };
        const late = error(ShellErrorCode.EngineTimeout, "The engine took too long.", options);
        resolve(this.#failed(request, late));
      });
      void running.response.promise.then((payload) => {
        cancelTimer();
        // One that waits for another's has ids of its own.
        resolve(running === request ? payload : { ...payload, response: undefined });
      });
    });
  }

  async #runToEnd(request: EngineRequest<Context>): Promise<void> {
    const { key, owner, text } = request;
    const payload = await this.#run(request);
    this.#running.delete(key ?? request);
    // What can be tried again, or was cancelled by its shell, is not remembered, so that the next attempt is made.
    const isOver = !request.isCancelled && payload.value.error?.retryable !== true;
    if (key !== undefined && isOver) this.#memory.add(owner, key, text, toAnswer(payload));
    request.end(payload);
  }

  /** Never rejects. Begins later: a request is known before its handler runs, which may ask this engine for the same one. */
  async #run(request: EngineRequest<Context>): Promise<Payload> {
    await undefined;
    const { router, continuations, failures } = this.#engine;
    const { claims } = request;
    let isClaimed = false;
    try {
      const route = router.routeOf(request);
      if (claims) {
        const data = await continuations.claim(claims);
        isClaimed = true;
        if (claims.run !== undefined) request.run = { id: claims.run, data, step: claims.step };
        // A store may take its time, and the answer to what begins now would reach no shell.
        this.assertOpen();
      }
      return await this.#handle(request, route);
    } catch (failure) {
      const payload = this.#failed(request, failure);
      if (claims && isClaimed && payload.value.error?.retryable) {
        await continuations.release(claims).catch(failures.onError);
      }
      return payload;
    }
  }

  async #handle(request: EngineRequest<Context>, route: Route<Context>): Promise<Payload> {
    const { createId, write } = this.#engine;
    const { asked, claims, owner } = request;
    const sessionId = request.sessionId ?? createId("sess");
    request.sessionId = sessionId;
    const conversationId = asked.conversation_id ?? claims?.conversation;
    const thread = conversationId === undefined ? [] : [conversationId];
    const conversation = { key: joinKey(owner, sessionId, ...thread), sessionId, conversationId };
    let returned: unknown;
    try {
      returned = await route.handler(new ShellCall(request, conversation, write));
    } catch (thrown) {
      throw new Thrown(thrown);
    }
    return await toPayload(returned, { request, conversation, route }, this.#engine);
  }

  #giveUp(request: EngineRequest<Context>, cause: Error, instead: ShellEngineError): void {
    request.abort(cause);
    request.response.resolve(this.#failed(request, instead));
  }

  #failed(request: EngineRequest<Context>, failure: unknown): Payload {
    return this.#engine.failures.payload(failure, request);
  }
}
